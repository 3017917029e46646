# The service in a small image: docker build --tag banqi .

# What others wrote, compiled without any of this source, so that only a change of these two files costs
# its minutes again.
FROM rust:1.95-bookworm AS dependencies
WORKDIR /source
# How hard the compiler tries; less only where the time it takes counts for more than the program's.
ARG OPT_LEVEL=3
ENV CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_PROFILE_RELEASE_OPT_LEVEL=$OPT_LEVEL
COPY Cargo.toml Cargo.lock ./
# Cargo wants a file for everything that the manifest names. Benchmarks are left out of it; an empty
# program stands for the rest, and is cleaned away, lest its files look newer than the source.
RUN sed -i '/^\[\[bench\]\]/,/^$/d' Cargo.toml \
    && mkdir src \
    && printf '//! Nothing yet.\nfn main() {}\n' | tee build.rs src/lib.rs >src/main.rs \
    && cargo build --release --locked \
    && cargo clean --release --locked --package banqi

FROM dependencies AS build
COPY build.rs ./
COPY proto proto
COPY src src
# The page, which the program has in it.
COPY clients/web/dist clients/web/dist
RUN cargo build --release --locked --bin banqi
# The libraries that it is linked to, and the authorities that TLS to Redis or a collector trusts.
RUN mkdir /image \
    && ldd target/release/banqi | grep --only-matching '/[^ ]*' \
        | xargs cp --parents --dereference --target-directory /image \
            /etc/ssl/certs/ca-certificates.crt

# No shell and no packages: nothing else to run, and nothing else to keep up to date.
FROM scratch
COPY --from=build /image /
COPY --from=build /source/target/release/banqi /usr/local/bin/banqi
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 50051 8080
# Without a shell in between, so that SIGTERM reaches the service.
ENTRYPOINT ["/usr/local/bin/banqi"]
CMD ["serve"]
