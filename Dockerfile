# Two stages: the first installs, the second only carries the result and runs as nobody in particular.
FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements/run.txt requirements/run.txt
RUN python -m venv /opt/buildwright \
 && /opt/buildwright/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY domain domain
COPY evals evals
COPY prompts prompts
COPY migrations migrations
RUN /opt/buildwright/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin buildwright \
 && install -d -o 10001 -g 10001 /data
COPY --from=build /opt/buildwright /opt/buildwright
ENV PATH=/opt/buildwright/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    BUILDWRIGHT_DATA_DIR=/data
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["buildwright", "serve", "--host", "0.0.0.0", "--port", "8000"]
