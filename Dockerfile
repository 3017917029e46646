# The service in a small image: docker build --tag banqi .
FROM rust:1.95-bookworm AS build
WORKDIR /source
# `.dockerignore` lets in what the build reads and nothing else, so other changes cost no rebuild.
COPY . .
RUN cargo build --release --locked --bin banqi

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin banqi
COPY --from=build /source/target/release/banqi /usr/local/bin/banqi
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 50051 8080
# Without a shell in between, so that SIGTERM reaches the service.
ENTRYPOINT ["/usr/local/bin/banqi"]
CMD ["serve"]
