// The operator's routes: outside the protocol surface, so not in its description (docs/operating.md). A token of their own opens them,
// kept here as its hash; a deployment without one has none of them.
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { sha256Hex } from "../../../core/hash.ts";
import { businessIdOf, removalIdOf } from "../../../core/ids.ts";
import { removalStatuses } from "../../../core/removals/removal.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { addressKey } from "../../../core/access/address.ts";
import { jsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { forAnyone, limited } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { listFailingEndpoints, listHomeSizes, listStuck, readEntitlement, setEntitlement } from "../../operations/admin/businesses.ts";
import { recordRemovalProgress } from "../../operations/consumers/removals.ts";

/** Hashes of 256 bits are compared: how long that takes tells nothing of the token. */
const asOperator = createMiddleware<Api>(async (c, next) => {
  const { services, ip } = c.var;
  const known = services.config.adminTokenHash;
  if (known === null) return failure(c, "not_found");
  const [, token] = /^Bearer ([\x21-\x7e]{32,200})$/.exec(c.req.header("authorization") ?? "") ?? [];
  if (token === undefined || sha256Hex(token) !== known) {
    const state = await services.takeByAddress("UNKNOWN_KEYS_PER_IP", addressKey(ip));
    return (state.allowed ? null : limited(c, "UNKNOWN_KEYS_PER_IP", state)) ?? failure(c, "unauthorized");
  }
  await next();
});

const changeSchema = z
  .strictObject({
    status: z.enum(["active", "suspended", "closed"]).optional(),
    plan: z.enum(["free", "business", "enterprise"]).optional(),
  })
  .refine(({ status, plan }) => status !== undefined || plan !== undefined, { path: ["status"], error: "or plan must be given" });

/** Null for what is no id of a business. */
const businessParam = z.object({ business_id: z.string().transform(businessIdOf) });

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
  middleware: forAnyone(asOperator, jsonBody),
  request: { params: businessParam, body: { required: true, content: { "application/json": { schema: changeSchema } } } },
});
/** Null for what is no id of a removal. */
const removalParam = z.object({ removal_id: z.string().transform(removalIdOf) });
const removalRoute = createRoute({
  ...hidden,
  method: "post",
  path: "/v1/admin/removals/{removal_id}",
  middleware: forAnyone(asOperator, jsonBody),
  request: {
    params: removalParam,
    body: {
      required: true,
      content: { "application/json": { schema: z.strictObject({ targets: z.record(z.string(), z.enum(removalStatuses)) }) } },
    },
  },
});
const stuckRoute = createRoute({ ...hidden, method: "get", path: "/v1/admin/stuck", middleware: asOperator });

export const admin = newApi();

admin.openapi(readRoute, async (c) => {
  const { business_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const read = await readEntitlement(c.var.services, id);
  return read.ok ? success(c, 200, read.value) : refusal(c, read);
});

admin.openapi(changeRoute, async (c) => {
  const { business_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const set = await setEntitlement(c.var.services, id, c.req.valid("json"));
  return set.ok ? success(c, 200, set.value) : refusal(c, set);
});

admin.openapi(removalRoute, async (c) => {
  const { services } = c.var;
  const found = new Map(Object.entries(c.req.valid("json").targets));
  const recorded = await recordRemovalProgress(services, c.req.valid("param").removal_id, found);
  if (!recorded.ok) return refusal(c, recorded);
  const { id, status, targets } = recorded.value;
  return success(c, 200, { id, status, targets: targets.map(({ name, status: of }) => ({ name, status: of })) });
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
