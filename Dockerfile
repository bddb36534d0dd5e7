# Builds the package as it is published, and installs it beside Node alone.
FROM node:22-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --no-audit --no-fund && npm pack --pack-destination /tmp

FROM node:22-slim
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
