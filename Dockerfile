# The build stage can compile better-sqlite3 if no prebuilt binary is available.
# Node 24.21.0
FROM node:24-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS build
WORKDIR /app
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
# A separate layer, rebuilt only when dependencies change.
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ormconfig.ts ./
COPY src ./src
COPY docs ./docs
COPY clients ./clients
COPY scripts/build.mjs ./scripts/
RUN npm run build:service && npm prune --omit=dev --no-audit --no-fund
# Fails here, not at the first start, if the binding of SQLite does not fit this release of Node.
RUN node -e "new (require('better-sqlite3'))(':memory:').prepare('SELECT 1').get()"

# The same image
FROM node:24-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
LABEL org.opencontainers.image.title="pet-store-service" \
  org.opencontainers.image.description="An HTTP/JSON service that lists, adds and retrieves the pets of a store, with API keys and exact quotas." \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
  LOG_FORMAT=json \
  HOST=0.0.0.0 \
  PORT=3000 \
  DATABASE_URL=sqlite:/data/petstore.db
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY templates ./templates
# For petstore new extension pets.
COPY --from=build /app/src/pets ./src/pets
# Extensions in node_modules import the service by its name.
RUN ln -s /app node_modules/pet-store-service
# The command petstore, as in the documentation.
RUN chmod 755 dist/src/main.js \
  && ln -s /app/dist/src/main.js /usr/local/bin/petstore \
  && install -d -o node -g node /data
# The user "node", by number: Kubernetes checks that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Its first line runs Node with the flags of the service. Node is process 1, and handles SIGTERM and SIGINT.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/petstore"]
CMD ["serve"]
