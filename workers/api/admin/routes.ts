// The operator's routes: outside the protocol surface, so not in its description (docs/operating.md). A token of their own opens them,
// kept here as its hash; a deployment without one has none of them.
import { z } from "@hono/zod-openapi";
import { sha256Hex } from "../../../core/hash.ts";
import { businessIdOf, removalIdOf } from "../../../core/ids.ts";
import { removalStatuses } from "../../../core/removals/removal.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { addressKey } from "../../../core/access/address.ts";
import { jsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, success } from "../../http/envelope.ts";
import { guard, inTurn } from "../../http/guard.ts";
import { overflowing } from "../../http/guards.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { bodyOf, idText } from "../../http/wire.ts";
import { listFailingEndpoints, listHomeSizes, listStuck, readEntitlement, setEntitlement } from "../../operations/admin/businesses.ts";
import { recordRemovalProgress } from "../../operations/consumers/removals.ts";

/** Hashes of 256 bits are compared: how long that takes tells nothing of the token. */
const asOperator = guard<Api>({}, async (c, next) => {
  const { services, ip } = c.var;
  const known = services.config.adminTokenHash;
  if (known === null) return failure(c, "not_found");
  const [, token] = /^Bearer ([\x21-\x7e]{32,200})$/.exec(c.req.header("authorization") ?? "") ?? [];
  if (token !== undefined && sha256Hex(token) === known) return next();
  const state = await services.takeByAddress("UNKNOWN_KEYS_PER_IP", addressKey(ip));
  return overflowing(c, "UNKNOWN_KEYS_PER_IP", state) ?? failure(c, "unauthorized");
});

const changeSchema = z
  .strictObject({
    status: z.enum(["active", "suspended", "closed"]).optional(),
    plan: z.enum(["free", "business", "enterprise"]).optional(),
  })
  .refine(({ status, plan }) => status !== undefined || plan !== undefined, { path: ["status"], error: "or plan must be given" });

const businessParam = z.object({ business_id: idText(businessIdOf, "must be an id") });

const createRoute = routesOf("admin");

/** Routed like every other, and left out of the description. */
const hidden = { hide: true, responses: { 200: { description: "Done." } } } as const;

const readRoute = createRoute({
  ...hidden,
  method: "get",
  path: "/v1/admin/businesses/{business_id}",
  middleware: asOperator,
  request: { params: businessParam },
});
const changeRoute = createRoute({
  ...hidden,
  method: "post",
  path: "/v1/admin/businesses/{business_id}",
  middleware: inTurn<Api>(asOperator, jsonBody),
  request: { params: businessParam, body: bodyOf(changeSchema, {}) },
});
const removalRoute = createRoute({
  ...hidden,
  method: "post",
  path: "/v1/admin/removals/{removal_id}",
  middleware: inTurn<Api>(asOperator, jsonBody),
  request: {
    params: z.object({ removal_id: idText(removalIdOf, "must be an id") }),
    body: bodyOf(z.strictObject({ targets: z.record(z.string(), z.enum(removalStatuses)) }), {}),
  },
});
const stuckRoute = createRoute({ ...hidden, method: "get", path: "/v1/admin/stuck", middleware: asOperator });

export const admin = newApi();

admin.openapi(readRoute, async (c) => {
  const read = await readEntitlement(c.var.services, c.req.valid("param").business_id);
  return answer(c, 200, read, (entitlement) => entitlement);
});

admin.openapi(changeRoute, async (c) => {
  const set = await setEntitlement(c.var.services, c.req.valid("param").business_id, c.req.valid("json"));
  return answer(c, 200, set, (entitlement) => entitlement);
});

admin.openapi(removalRoute, async (c) => {
  const found = new Map(Object.entries(c.req.valid("json").targets));
  const recorded = await recordRemovalProgress(c.var.services, c.req.valid("param").removal_id, found);
  return answer(c, 200, recorded, ({ id, status, targets }) => ({
    id,
    status,
    targets: targets.map(({ name, status: of }) => ({ name, status: of })),
  }));
});

admin.openapi(stuckRoute, async (c) => {
  const { services } = c.var;
  const [stuck, homes, failing] = await Promise.all([listStuck(services), listHomeSizes(services), listFailingEndpoints(services)]);
  return success(c, 200, {
    stuck: stuck.map(({ since, ...one }) => ({ ...one, since: isoOrNull(since) })),
    homes: homes.map(({ home, bytes, maxBytes }) => ({ home, bytes, max_bytes: maxBytes })),
    failing_endpoints: failing.map(({ home, webhookId, businessId, since, failures, backlog }) => ({
      home,
      webhook_id: webhookId,
      business_id: businessId,
      failing_since: isoOf(since),
      failures,
      waiting: backlog,
    })),
  });
});
