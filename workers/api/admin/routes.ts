// Operator routes (docs/operate/admin-commands.md), which are not in the OpenAPI document.
import { z } from "@hono/zod-openapi";
import { alertDefinitions, alertKinds } from "../../../core/alerts.ts";
import { parseBusinessId, parseRemovalId, parseShardId, parseWebhookId } from "../../../core/ids.ts";
import { incidentImpacts, statusComponents, type Incident } from "../../../core/incidents.ts";
import { removalStatuses } from "../../../core/removals/removal.ts";
import { shardStates } from "../../../core/shards/placement.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/context.ts";
import { respond, success } from "../../http/envelope.ts";
import { combineGuards } from "../../http/guards/define-guard.ts";
import { requireOperator } from "../../http/guards/operator.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { idSchema, instantSchema, optionalMember, requestBody } from "../../http/wire.ts";
import { getEntitlement } from "../../operations/admin/get-entitlement.ts";
import { listFailedMailByShard } from "../../operations/admin/list-failed-mail.ts";
import { listFailingEndpointsByShard } from "../../operations/admin/list-failing-endpoints.ts";
import { listShards } from "../../operations/admin/list-shards.ts";
import { listStuckWorkByShard } from "../../operations/admin/list-stuck-work.ts";
import { listWaitingRemovalsByShard } from "../../operations/admin/list-waiting-removals.ts";
import { measureService } from "../../operations/admin/measure-service.ts";
import { openRemoval } from "../../operations/admin/open-removal.ts";
import { changeIncident, openIncident } from "../../operations/admin/record-incident.ts";
import { recordRemovalCheck } from "../../operations/admin/record-removal-check.ts";
import { resendMail } from "../../operations/admin/resend-mail.ts";
import { endDeploymentCheck, prepareDeploymentCheck } from "../../operations/admin/prepare-deployment-check.ts";
import { replaceWebhookSecrets } from "../../operations/admin/replace-webhook-secrets.ts";
import { listLinkKeys } from "../../operations/admin/list-link-keys.ts";
import { reindexStoredRows } from "../../operations/admin/reindex-stored-rows.ts";
import { rewrapStoredKeys } from "../../operations/admin/rewrap-stored-keys.ts";
import { updateEntitlement } from "../../operations/admin/update-entitlement.ts";
import { updateShardState } from "../../operations/admin/update-shard-state.ts";
import { recordRemovalProgress } from "../../operations/consumers/record-removal-progress.ts";
import { getServiceStatus } from "../../operations/service/get-service-status.ts";

const entitlementUpdateSchema = z
  .strictObject({
    status: optionalMember(z.enum(["active", "suspended", "closed"])),
    plan: optionalMember(z.enum(["free", "business", "enterprise"])),
  })
  .refine(({ status, plan }) => status !== undefined || plan !== undefined, {
    path: ["status"],
    error: "is required unless you send plan",
  });

const businessParam = z.object({ business_id: idSchema(parseBusinessId, "must be an ID") });

const createRoute = createRouteFactory("admin");

const undocumentedRoute = { hide: true, responses: { 200: { description: "Done." } } } as const;
const get = { ...undocumentedRoute, method: "get", middleware: requireOperator } as const;
const postJson = { ...undocumentedRoute, method: "post", middleware: combineGuards<AppEnv>(requireOperator, jsonBody) } as const;
const postEmpty = { ...undocumentedRoute, method: "post", middleware: combineGuards<AppEnv>(requireOperator, noBody) } as const;

const getEntitlementRoute = createRoute({ ...get, path: "/v1/admin/businesses/{business_id}", request: { params: businessParam } });
const updateEntitlementRoute = createRoute({
  ...postJson,
  path: "/v1/admin/businesses/{business_id}",
  request: { params: businessParam, body: requestBody(entitlementUpdateSchema, {}) },
});
const removalParam = z.object({ removal_id: idSchema(parseRemovalId, "must be an ID") });
const updateRemovalRoute = createRoute({
  ...postJson,
  path: "/v1/admin/removals/{removal_id}",
  request: {
    params: removalParam,
    body: requestBody(z.strictObject({ targets: z.record(z.string(), z.enum(removalStatuses)) }), {}),
  },
});
const listRemovalsRoute = createRoute({ ...get, path: "/v1/admin/removals" });
const openRemovalRoute = createRoute({ ...postEmpty, path: "/v1/admin/removals/{removal_id}/open", request: { params: removalParam } });
const recordRemovalCheckRoute = createRoute({
  ...postEmpty,
  path: "/v1/admin/removals/{removal_id}/checked",
  request: { params: removalParam },
});
const resendMailRoute = createRoute({
  ...postEmpty,
  path: "/v1/admin/mail/{mail_id}",
  request: { params: z.object({ mail_id: z.uuid() }) },
});
const listStuckWorkRoute = createRoute({ ...get, path: "/v1/admin/stuck" });
const incidentTextSchema = z.string().trim().min(1).max(2_000);
const listIncidentsRoute = createRoute({ ...get, path: "/v1/admin/incidents" });
const openIncidentRoute = createRoute({
  ...postJson,
  path: "/v1/admin/incidents",
  request: {
    body: requestBody(
      z.strictObject({
        title: z.string().trim().min(1).max(200),
        impact: z.enum(incidentImpacts),
        components: z.array(z.enum(statusComponents)).min(1),
        text: incidentTextSchema,
      }),
      {},
    ),
  },
});
const changeIncidentRoute = createRoute({
  ...postJson,
  path: "/v1/admin/incidents/{incident_id}",
  request: {
    params: z.object({ incident_id: z.string().regex(/^[0-9a-f]{16}$/) }),
    body: requestBody(
      z.strictObject({ text: incidentTextSchema, impact: optionalMember(z.enum(incidentImpacts)), ended: optionalMember(z.boolean()) }),
      {},
    ),
  },
});
const getFiguresRoute = createRoute({ ...get, path: "/v1/admin/figures" });
const storedRowsStepSchema = z.strictObject({
  check: optionalMember(z.boolean()),
  cursor: optionalMember(
    z.strictObject({ shard: z.string(), step: z.string(), position: z.array(z.union([z.string(), z.number()])).max(2) }),
  ),
});
const rewrapKeysRoute = createRoute({
  ...postJson,
  path: "/v1/admin/keys/master",
  request: { body: requestBody(storedRowsStepSchema, {}) },
});
const reindexRoute = createRoute({
  ...postJson,
  path: "/v1/admin/keys/index",
  request: { body: requestBody(storedRowsStepSchema, {}) },
});
const listLinkKeysRoute = createRoute({ ...undocumentedRoute, method: "post", path: "/v1/admin/keys/links", middleware: requireOperator });
const replaceSecretsRoute = createRoute({
  ...postJson,
  path: "/v1/admin/keys/webhook",
  request: {
    body: requestBody(
      z.strictObject({
        check: optionalMember(z.boolean()),
        before: optionalMember(instantSchema),
        webhook_id: optionalMember(idSchema(parseWebhookId, "must be an ID")),
        cursor: optionalMember(z.strictObject({ shard: z.string(), after: z.string() })),
      }),
      {},
    ),
  },
});
const listShardsRoute = createRoute({ ...get, path: "/v1/admin/shards" });
const updateShardRoute = createRoute({
  ...postJson,
  path: "/v1/admin/shards/{shard}",
  request: {
    params: z.object({ shard: idSchema(parseShardId, "must be two characters, as in IDs") }),
    body: requestBody(z.strictObject({ state: z.enum(shardStates) }), {}),
  },
});
const prepareDeploymentCheckRoute = createRoute({
  ...undocumentedRoute,
  method: "post",
  path: "/v1/admin/deployment-check",
  middleware: requireOperator,
});
const endDeploymentCheckRoute = createRoute({
  ...undocumentedRoute,
  method: "delete",
  path: "/v1/admin/deployment-check",
  middleware: requireOperator,
});

export const adminRoutes = createApi();

adminRoutes.openapi(getEntitlementRoute, async (c) => {
  const found = await getEntitlement(c.var.services, c.req.valid("param").business_id);
  return respond(c, 200, found, (entitlement) => entitlement);
});

adminRoutes.openapi(updateEntitlementRoute, async (c) => {
  const updated = await updateEntitlement(c.var.services, c.req.valid("param").business_id, c.req.valid("json"));
  return respond(c, 200, updated, (entitlement) => entitlement);
});

adminRoutes.openapi(updateRemovalRoute, async (c) => {
  const statusByTarget = new Map(Object.entries(c.req.valid("json").targets));
  const recorded = await recordRemovalProgress(c.var.services, c.req.valid("param").removal_id, statusByTarget);
  return respond(c, 200, recorded, ({ id, status, targets }) => ({
    id,
    status,
    targets: targets.map((target) => ({ name: target.name, status: target.status })),
  }));
});

adminRoutes.openapi(listRemovalsRoute, async (c) => {
  const waiting = await listWaitingRemovalsByShard(c.var.services);
  return success(c, 200, {
    removals: waiting.map(({ shard, id, status, requestedAt, recheckAt, targets }) => ({
      shard,
      id,
      status,
      requested_at: toIso(requestedAt),
      recheck_at: toIsoOrNull(recheckAt),
      targets,
    })),
  });
});

adminRoutes.openapi(openRemovalRoute, async (c) => {
  const opened = await openRemoval(c.var.services, c.req.valid("param").removal_id);
  return respond(c, 200, opened, ({ removal: { id, status, targets, notes }, email, fields }) => ({
    id,
    status,
    targets: targets.map((target) => ({ name: target.name, status: target.status })),
    notes,
    email,
    fields: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.value])),
  }));
});

adminRoutes.openapi(recordRemovalCheckRoute, async (c) => {
  const recorded = await recordRemovalCheck(c.var.services, c.req.valid("param").removal_id);
  return respond(c, 200, recorded, (recheckAt) => ({ recheck_at: toIso(recheckAt) }));
});

adminRoutes.openapi(resendMailRoute, async (c) => {
  const resent = await resendMail(c.var.services, c.req.valid("param").mail_id);
  return respond(c, 200, resent, (mail) => mail);
});

adminRoutes.openapi(listStuckWorkRoute, async (c) => {
  const { services } = c.var;
  const [stuck, shards, failing, failedMail] = await Promise.all([
    listStuckWorkByShard(services),
    listShards(services),
    listFailingEndpointsByShard(services),
    listFailedMailByShard(services),
  ]);
  return success(c, 200, {
    stuck: stuck.map(({ since, ...work }) => ({ ...work, since: toIsoOrNull(since) })),
    shards: shards.map(({ shard, bytes, maxBytes, isAvailable }) => ({ shard, bytes, max_bytes: maxBytes, available: isAvailable })),
    failing_endpoints: failing.map(({ shard, webhookId, businessId, since, failures, backlog }) => ({
      shard,
      webhook_id: webhookId,
      business_id: businessId,
      failing_since: toIso(since),
      failures,
      waiting: backlog,
    })),
    failed_mail: failedMail.map(({ shard, id, template, reason, to, failedAt }) => ({
      shard,
      id,
      template,
      reason,
      to,
      failed_at: toIso(failedAt),
    })),
  });
});

const incidentToWire = ({ id, title, impact, components, startedAt, endedAt, updates }: Incident) => ({
  id,
  title,
  impact,
  components,
  started_at: toIso(startedAt),
  ended_at: toIsoOrNull(endedAt),
  updates: updates.map(({ at, text }) => ({ at: toIso(at), text })),
});

adminRoutes.openapi(listIncidentsRoute, async (c) => {
  const { incidents } = await getServiceStatus(c.var.services);
  return success(c, 200, { incidents: incidents.map(incidentToWire) });
});

adminRoutes.openapi(openIncidentRoute, async (c) => {
  const incident = await openIncident(c.var.services, c.req.valid("json"));
  return success(c, 201, incidentToWire(incident));
});

adminRoutes.openapi(changeIncidentRoute, async (c) => {
  const { ended, ...change } = c.req.valid("json");
  const changed = await changeIncident(c.var.services, c.req.valid("param").incident_id, { ...change, hasEnded: ended });
  return respond(c, 200, changed, incidentToWire);
});

adminRoutes.openapi(getFiguresRoute, async (c) => {
  const { services } = c.var;
  const figures = await measureService(services);
  const { alertThresholds } = services.config;
  return success(
    c,
    200,
    Object.fromEntries(
      alertKinds.map((kind) => [
        kind,
        {
          value: figures[kind],
          threshold: alertThresholds[kind],
          unit: alertDefinitions[kind].unit,
          raised: figures[kind] > alertThresholds[kind],
        },
      ]),
    ),
  );
});

adminRoutes.openapi(rewrapKeysRoute, async (c) => {
  const { check = false, cursor = null } = c.req.valid("json");
  return respond(c, 200, await rewrapStoredKeys(c.var.services, { cursor, isCheck: check }), (step) => step);
});

adminRoutes.openapi(reindexRoute, async (c) => {
  const { check = false, cursor = null } = c.req.valid("json");
  return respond(c, 200, await reindexStoredRows(c.var.services, { cursor, isCheck: check }), (step) => step);
});

adminRoutes.openapi(listLinkKeysRoute, (c) => success(c, 200, listLinkKeys(c.var.services)));

adminRoutes.openapi(replaceSecretsRoute, async (c) => {
  const { check = false, before = null, webhook_id: webhookId = null, cursor = null } = c.req.valid("json");
  const request = { before: before === null ? null : Date.parse(before), webhookId, cursor, isCheck: check };
  return respond(c, 200, await replaceWebhookSecrets(c.var.services, request), ({ before: used, earlierUntil, ...step }) => ({
    ...step,
    before: toIso(used),
    earlier_until: toIsoOrNull(earlierUntil),
  }));
});

adminRoutes.openapi(listShardsRoute, async (c) => {
  const shards = await listShards(c.var.services);
  return success(
    c,
    200,
    shards.map(({ shard, state, bytes, maxBytes, isNext, isAvailable }) => ({
      shard,
      state,
      bytes,
      max_bytes: maxBytes,
      next: isNext,
      available: isAvailable,
    })),
  );
});

adminRoutes.openapi(updateShardRoute, async (c) => {
  const updated = await updateShardState(c.var.services, c.req.valid("param").shard, c.req.valid("json").state);
  return respond(c, 200, updated, (shard) => shard);
});

adminRoutes.openapi(prepareDeploymentCheckRoute, async (c) => {
  const { clientId, apiKey } = await prepareDeploymentCheck(c.var.services);
  return success(c, 201, { client_id: clientId, api_key: apiKey });
});

adminRoutes.openapi(endDeploymentCheckRoute, async (c) => {
  await endDeploymentCheck(c.var.services);
  return success(c, 200, { ended: true });
});
