# The image of deploy/compose.yaml: built in one stage, run in another, nothing but the package in it.
# A new volume has the owner of the directory it is put on, so those of the volumes are made here.
FROM rust:1.95-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv python3-dev
WORKDIR /src
COPY . .
RUN python3 -m venv /opt/gossamer && /opt/gossamer/bin/pip install --no-cache-dir .

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/* && useradd --create-home gossamer \
    && install -d -o gossamer /data /snapshots
COPY --from=build /opt/gossamer /opt/gossamer
ENV PATH=/opt/gossamer/bin:$PATH
USER gossamer
WORKDIR /home/gossamer
ENTRYPOINT ["gossamer"]
