// c15t on Hono and PostgreSQL, set up as its quickstart describes. `migrate` creates its tables. Expects DATABASE_URL and PORT.
import { serve } from "@hono/node-server";
import { c15tInstance } from "@c15t/backend";
import { kyselyAdapter } from "@c15t/backend/db/adapters/kysely";
import { migrator } from "@c15t/backend/db/migrator";
import { DB } from "@c15t/backend/db/schema";
import { Hono } from "hono";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const adapter = kyselyAdapter({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), provider: "postgresql" });
if (process.argv[2] === "migrate") {
  const migration = await migrator({ db: DB.client(adapter), schema: "latest" });
  await migration.execute();
  process.exit(0);
}
const c15t = c15tInstance({ appName: "peers", basePath: "/api/c15t", trustedOrigins: ["https://www.example.com"], adapter });
const app = new Hono().all("/api/c15t/*", (c) => c15t.handler(c.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" }, () => console.log("READY"));
