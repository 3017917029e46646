return now
