# One image, two roles: `serve` runs the web server and the workers; `work` the workers alone.
FROM node:22 AS assets
WORKDIR /app
COPY Makefile package.json package-lock.json .npmrc ./
# Node is here: the Python environment that would bring one is not needed.
RUN make --old-file=.venv/python.ok build/vendor/.ok

FROM python:3.12-slim AS build
WORKDIR /app
COPY requirements/run.txt requirements/run.txt
RUN python -m venv .venv && .venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/run.txt
COPY . .
COPY --from=assets /app/build/vendor build/vendor
RUN .venv/bin/pybabel compile -d locale -D django \
    && STET_DATA_DIR=/tmp/build .venv/bin/python manage.py collectstatic --noinput \
    && mv /tmp/build/static collected

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 stet && mkdir /data && chown stet /data
COPY --from=build /app /app
WORKDIR /app
USER 10001
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 STET_DATA_DIR=/data STET_STATIC_ROOT=/app/collected STET_LOG_FORMAT=json
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
ENTRYPOINT ["python", "manage.py"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
