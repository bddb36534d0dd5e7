# Builds the package as it is published, and installs it beside Node alone. The digest decides which Node; both stages have the same.
FROM node:22-slim@sha256:c3de60bf2f9dd0ac6370e6117950ff62d6e339527e7472301c9c78a017978392 AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --pack-destination /tmp

FROM node:22-slim@sha256:c3de60bf2f9dd0ac6370e6117950ff62d6e339527e7472301c9c78a017978392
COPY --from=build /tmp/muster-data-cli-*.tgz /tmp/muster.tgz
RUN npm install --global --no-audit --no-fund /tmp/muster.tgz && npm cache clean --force && rm /tmp/muster.tgz \
  && install --directory --owner=node --mode=700 /data
# Everything that is written goes below /data: the rest can be read-only.
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["muster"]
CMD ["serve", "--host", "0.0.0.0"]
