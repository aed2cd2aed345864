# ckptsim without Spark: every verb but sweep, report and demo.
#   docker build -t ckptsim . && docker run --rm -v "$PWD:/data" ckptsim run job.toml
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir "/src[store,compiled]" && rm -rf /src \
    && useradd --create-home --uid 1000 ckptsim && mkdir /data && chown ckptsim /data
USER ckptsim
WORKDIR /data
ENTRYPOINT ["ckptsim"]
CMD ["--help"]
