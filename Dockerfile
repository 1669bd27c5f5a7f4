# kb alone in an image: the binary, the certificates that it trusts, and a folder
# that an unprivileged user may write to.
#
#   docker build -t kb .
#   docker run --rm -v kb:/data -v "$PWD/notes:/data/notes:ro" kb build notes
#
# With databases beside it: compose.yaml.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY pkg pkg
COPY scripts/notices scripts/notices
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w${VERSION:+ -X main.version=$VERSION}" -o /out/kb ./cmd/kb \
 && go run ./scripts/notices >/out/NOTICES.txt \
 && mkdir -p /out/data/notes

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/kb /usr/local/bin/
COPY --from=build /out/NOTICES.txt /usr/share/doc/kb/
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
ENV HOME=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["/usr/local/bin/kb", "doctor", "--server", "http://127.0.0.1:8080"]
ENTRYPOINT ["/usr/local/bin/kb"]
CMD ["serve", "--addr", ":8080"]
