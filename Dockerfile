# The compiled binary on a slim Debian. Run it with one volume:
#   docker run -d --name footfall -p 8080:8080 -v footfall:/data footfall
# With a read-only root it needs a temporary folder from which libSQL's native part can be loaded:
#   docker run -d --read-only --tmpfs /tmp:exec -p 8080:8080 -v footfall:/data footfall

FROM node:22-trixie-slim AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN npx -y bun@1.4.5 install --frozen-lockfile
COPY . .
RUN npx -y bun@1.4.5 run build && mv dist/footfall-linux-* dist/footfall

FROM debian:trixie-slim
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin footfall \
  && install -d -o footfall -g footfall -m 0700 /data
COPY --from=build /build/dist/footfall /usr/local/bin/footfall
USER footfall
WORKDIR /data
ENV FOOTFALL_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# The image holds no HTTP client; bash opens the socket itself.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${FOOTFALL_PORT:-8080} && printf 'GET /health/live HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["footfall"]
CMD ["serve"]
