// kit/api.gen.ts
var OPERATIONS = {
  captureConsent: { id: "captureConsent", method: "POST", path: "/v1/consent", tags: ["certificates"], params: [{ name: "Origin", in: "header" }, { name: "Idempotency-Key", in: "header" }, { name: "X-Subject-IP", in: "header" }, { name: "X-Subject-User-Agent", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  verifyCertificate: { id: "verifyCertificate", method: "GET", path: "/v1/certs/{cert_id}/verify", tags: ["certificates"], params: [{ name: "cert_id", in: "path" }, { name: "If-None-Match", in: "header" }], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "etag", key: "etag", type: "string" }] },
  listCertificates: { id: "listCertificates", method: "GET", path: "/v1/certs", tags: ["certificates"], params: [{ name: "page", in: "query" }, { name: "per_page", in: "query" }, { name: "status", in: "query" }, { name: "subject_email", in: "query" }, { name: "subject_phone", in: "query" }, { name: "q", in: "query" }, { name: "origin_domain", in: "query" }, { name: "entity", in: "query" }, { name: "from", in: "query" }, { name: "to", in: "query" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  searchCertificates: { id: "searchCertificates", method: "POST", path: "/v1/certs/search", tags: ["certificates"], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  readCertificate: { id: "readCertificate", method: "GET", path: "/v1/certs/{cert_id}", tags: ["certificates"], params: [{ name: "cert_id", in: "path" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  exportEvidencePack: { id: "exportEvidencePack", method: "GET", path: "/v1/certs/{cert_id}/evidence-pack", tags: ["certificates"], params: [{ name: "cert_id", in: "path" }, { name: "format", in: "query" }, { name: "redact", in: "query" }, { name: "disclose", in: "query" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  authorizeShare: { id: "authorizeShare", method: "GET", path: "/v1/authorize", tags: ["sharing"], params: [{ name: "client_id", in: "query" }, { name: "origin", in: "query" }, { name: "scope", in: "query" }, { name: "purpose", in: "query" }, { name: "code_challenge", in: "query" }, { name: "code_challenge_method", in: "query" }, { name: "state", in: "query" }, { name: "duration_days", in: "query" }, { name: "disclosure_text", in: "query" }, { name: "locale", in: "query" }, { name: "return_url", in: "query" }, { name: "request_signature", in: "query" }, { name: "display", in: "query" }], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  signShareRequest: { id: "signShareRequest", method: "POST", path: "/v1/share/requests", tags: ["sharing"], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  grantSandboxShare: { id: "grantSandboxShare", method: "POST", path: "/v1/share/sandbox-consent", tags: ["sharing"], params: [{ name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  redeemShare: { id: "redeemShare", method: "POST", path: "/v1/share/redeem", tags: ["sharing"], params: [{ name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  revokeShare: { id: "revokeShare", method: "POST", path: "/v1/shares/{share_id}/revoke", tags: ["sharing"], params: [{ name: "share_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  acknowledgeShare: { id: "acknowledgeShare", method: "POST", path: "/v1/shares/{share_id}/cease-ack", tags: ["sharing"], params: [{ name: "share_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  listShares: { id: "listShares", method: "GET", path: "/v1/shares", tags: ["sharing"], params: [{ name: "status", in: "query" }, { name: "limit", in: "query" }, { name: "starting_after", in: "query" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  readShare: { id: "readShare", method: "GET", path: "/v1/shares/{share_id}", tags: ["sharing"], params: [{ name: "share_id", in: "path" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  readCurrentValues: { id: "readCurrentValues", method: "GET", path: "/v1/consumers/{share_id}/current", tags: ["sharing"], params: [{ name: "share_id", in: "path" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  listEvents: { id: "listEvents", method: "GET", path: "/v1/events", tags: ["events"], params: [{ name: "cursor", in: "query" }, { name: "limit", in: "query" }, { name: "types", in: "query" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  readSandboxClock: { id: "readSandboxClock", method: "GET", path: "/v1/sandbox/clock", tags: ["sandbox"], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  moveSandboxClock: { id: "moveSandboxClock", method: "POST", path: "/v1/sandbox/clock", tags: ["sandbox"], params: [{ name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  triggerSandboxEvent: { id: "triggerSandboxEvent", method: "POST", path: "/v1/sandbox/trigger", tags: ["sandbox"], params: [{ name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  resetSandbox: { id: "resetSandbox", method: "POST", path: "/v1/sandbox/reset", tags: ["sandbox"], params: [{ name: "Idempotency-Key", in: "header" }], security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  requestWithdrawalCode: { id: "requestWithdrawalCode", method: "POST", path: "/v1/certs/{cert_id}/opt-out/request", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  confirmWithdrawal: { id: "confirmWithdrawal", method: "POST", path: "/v1/certs/{cert_id}/opt-out/confirm", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  withdrawByLink: { id: "withdrawByLink", method: "POST", path: "/v1/certs/{cert_id}/opt-out/manage", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  withdrawalReceipt: { id: "withdrawalReceipt", method: "GET", path: "/v1/certs/{cert_id}/receipt", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "withdrawal", in: "query" }, { name: "format", in: "query" }], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  recordWithdrawal: { id: "recordWithdrawal", method: "POST", path: "/v1/certs/{cert_id}/withdrawals", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  acknowledgeWithdrawal: { id: "acknowledgeWithdrawal", method: "POST", path: "/v1/certs/{cert_id}/cease-ack", tags: ["withdrawal"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  matchSubject: { id: "matchSubject", method: "POST", path: "/v1/certs/{cert_id}/match", tags: ["contact"], params: [{ name: "cert_id", in: "path" }, { name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  checkContact: { id: "checkContact", method: "POST", path: "/v1/contact-check", tags: ["contact"], params: [{ name: "Idempotency-Key", in: "header" }], body: { contentType: "application/json" }, security: [[{ scheme: "apiKey", kind: "bearer" }]], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }, { name: "idempotency-replayed", key: "idempotencyReplayed", type: "string" }] },
  health: { id: "health", method: "GET", path: "/v1/health", tags: ["service"], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  issuerKeys: { id: "issuerKeys", method: "GET", path: "/.well-known/jwks.json", tags: ["service"], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  trust: { id: "trust", method: "GET", path: "/.well-known/svc-trust.json", tags: ["service"], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] },
  openApiDocument: { id: "openApiDocument", method: "GET", path: "/v1/openapi.json", tags: ["service"], responseHeaders: [{ name: "ratelimit-limit", key: "ratelimitLimit", type: "number" }, { name: "ratelimit-remaining", key: "ratelimitRemaining", type: "number" }, { name: "ratelimit-reset", key: "ratelimitReset", type: "number" }] }
};
var ApiError = class extends Error {
  url;
  status;
  statusText;
  body;
  constructor(url, status, statusText, body) {
    super(`Request failed with status ${status}`);
    this.name = "ApiError";
    this.url = url;
    this.status = status;
    this.statusText = statusText;
    this.body = body;
  }
};
var TimeoutError = class extends Error {
  operationId;
  timeout;
  attempt;
  constructor(operationId, timeout, attempt) {
    super(`Request "${operationId}" timed out after ${timeout} ms (attempt ${attempt})`);
    this.name = "TimeoutError";
    this.operationId = operationId;
    this.timeout = timeout;
    this.attempt = attempt;
  }
};
function abortError(signal) {
  const reason = signal.reason;
  if (reason instanceof Error) return reason;
  return new DOMException("The operation was aborted.", "AbortError");
}
function encodeReserved(value) {
  return encodeURIComponent(value).replace(
    /%(3A|2F|3F|23|5B|5D|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g,
    (match) => decodeURIComponent(match)
  );
}
function substitutePath(template, values) {
  return template.replace(/\{([^{}]+)\}/g, (_match, name) => {
    const value = values[name];
    if (value === void 0) throw new Error(`Missing path parameter "${name}"`);
    return encodeURIComponent(String(value));
  });
}
function buildUrl(serverUrl, path, query, styles) {
  let end = serverUrl.length;
  while (end > 0 && serverUrl.charCodeAt(end - 1) === 47) end--;
  const url = serverUrl.slice(0, end) + path;
  if (!query) return url;
  const params = new URLSearchParams();
  const raw = [];
  for (const [key, value] of Object.entries(query)) {
    if (value === void 0 || value === null) continue;
    const spec = styles?.[key];
    if (!spec) {
      if (Array.isArray(value)) {
        for (const v of value) {
          if (v !== void 0 && v !== null) params.append(key, String(v));
        }
      } else if (Object(value) === value) {
        for (const [subKey, subValue] of Object.entries(value)) {
          if (subValue !== void 0 && subValue !== null) {
            params.append(`${key}[${subKey}]`, String(subValue));
          }
        }
      } else {
        params.append(key, String(value));
      }
      continue;
    }
    if (Array.isArray(value)) {
      const items = value.filter((v) => v !== void 0 && v !== null).map(String);
      if (spec.style === "form" && spec.explode) {
        for (const v of items) {
          if (spec.allowReserved) raw.push(`${key}=${encodeReserved(v)}`);
          else params.append(key, v);
        }
      } else {
        const delim = spec.style === "pipeDelimited" ? "|" : spec.style === "spaceDelimited" ? "%20" : ",";
        const enc = spec.allowReserved ? encodeReserved : encodeURIComponent;
        raw.push(`${encodeURIComponent(key)}=${items.map(enc).join(delim)}`);
      }
    } else if (Object(value) === value) {
      for (const [subKey, subValue] of Object.entries(value)) {
        if (subValue !== void 0 && subValue !== null) {
          if (spec.allowReserved) raw.push(`${key}[${subKey}]=${encodeReserved(String(subValue))}`);
          else params.append(`${key}[${subKey}]`, String(subValue));
        }
      }
    } else if (spec.allowReserved) {
      raw.push(`${key}=${encodeReserved(String(value))}`);
    } else {
      params.append(key, String(value));
    }
  }
  const qs = [params.toString(), ...raw].filter(Boolean).join("&");
  return qs ? `${url}?${qs}` : url;
}
async function parse(response, kind) {
  if (kind === "void") {
    if (response.status === 204 || response.status === 205 || response.status === 304) {
      return void 0;
    }
    const contentType2 = (response.headers.get("content-type") ?? "").toLowerCase();
    if (!contentType2.includes("json")) return void 0;
    const text = await response.text().catch(() => "");
    if (text === "") return void 0;
    try {
      return JSON.parse(text);
    } catch {
      return void 0;
    }
  }
  if (response.status === 204) return void 0;
  if (kind === "stream") return response.body;
  if (kind === "blob") return response.blob();
  if (kind === "arrayBuffer") return response.arrayBuffer();
  if (kind === "formData") return response.formData();
  if (kind === "text") return response.text();
  if (kind === "json") return response.json();
  const contentType = (response.headers.get("content-type") ?? "").toLowerCase();
  if (contentType.includes("json")) return response.json();
  if (contentType.startsWith("text/")) return response.text();
  const blob = await response.blob();
  return blob.size > 0 ? blob : void 0;
}
async function readError(response) {
  const contentType = response.headers.get("content-type") ?? "";
  if (contentType.toLowerCase().includes("json")) {
    return response.json().catch(() => void 0);
  }
  return response.text().catch(() => void 0);
}
var IDEMPOTENT_METHODS = /* @__PURE__ */ new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
var TRANSIENT_STATUS = /* @__PURE__ */ new Set([408, 429, 500, 502, 503, 504]);
function defaultRetryOn(ctx) {
  const safeToResend = IDEMPOTENT_METHODS.has(ctx.request.method.toUpperCase()) || "Idempotency-Key" in ctx.request.headers || "idempotency-key" in ctx.request.headers;
  if (!safeToResend) return false;
  return ctx.response === void 0 || TRANSIENT_STATUS.has(ctx.response.status);
}
function retryDelay(retry, attempt, retryAfter) {
  if (retryAfter) {
    const seconds = Number(retryAfter);
    if (!Number.isNaN(seconds)) return seconds * 1e3;
    const when = Date.parse(retryAfter);
    if (!Number.isNaN(when)) return Math.max(0, when - Date.now());
  }
  const base = retry.retryDelay ?? 1e3;
  const raw = retry.retryStrategy === "fixed" ? base : base * Math.pow(2, attempt - 1);
  return retry.jitter === false ? raw : Math.random() * raw;
}
function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError(signal));
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortError(signal));
    };
    const timer = setTimeout(() => {
      if (signal) signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    if (signal) signal.addEventListener("abort", onAbort, { once: true });
  });
}
async function resolveToken(provider) {
  return typeof provider === "function" ? await provider() : provider;
}
function encodeBase64(text) {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
function isConfigured(scheme, config) {
  if (scheme.kind === "apiKey") return config.auth?.apiKey?.[scheme.scheme] !== void 0;
  if (scheme.kind === "bearer") return config.auth?.bearer !== void 0;
  return config.auth?.basic !== void 0;
}
async function resolveAuth(security, config) {
  const alternative = security.find((schemes) => schemes.every((scheme) => isConfigured(scheme, config))) ?? security[0] ?? [];
  const headers = {};
  const query = {};
  const cookies = [];
  for (const scheme of alternative) {
    if (scheme.kind === "apiKey") {
      const provider = config.auth?.apiKey?.[scheme.scheme];
      if (provider === void 0) continue;
      const value = await resolveToken(provider);
      if (scheme.in === "header") headers[scheme.name] = value;
      else if (scheme.in === "query") query[scheme.name] = value;
      else cookies.push(`${scheme.name}=${encodeURIComponent(value)}`);
    } else if (scheme.kind === "bearer") {
      const provider = config.auth?.bearer;
      if (provider !== void 0) headers.Authorization = `Bearer ${await resolveToken(provider)}`;
    } else {
      const basic = config.auth?.basic;
      if (basic !== void 0) {
        headers.Authorization = `Basic ${encodeBase64(`${basic.username}:${basic.password}`)}`;
      }
    }
  }
  if (cookies.length > 0) headers.Cookie = cookies.join("; ");
  return { headers, query };
}
function toHeaderRecord(headers) {
  if (headers === void 0) return {};
  if (headers instanceof Headers) {
    const record = {};
    headers.forEach((value, key) => {
      record[key] = value;
    });
    return record;
  }
  if (Array.isArray(headers)) return Object.fromEntries(headers);
  return headers;
}
function middlewareChain(config) {
  const single = config.onRequest || config.onResponse || config.onError ? [
    {
      ...config.onRequest ? { onRequest: config.onRequest } : {},
      ...config.onResponse ? { onResponse: config.onResponse } : {},
      ...config.onError ? { onError: config.onError } : {}
    }
  ] : [];
  return [...single, ...config.middleware ?? []];
}
function timeoutSignal(ms) {
  if (typeof AbortSignal.timeout === "function") return AbortSignal.timeout(ms);
  const controller = new AbortController();
  setTimeout(() => {
    controller.abort(new DOMException(`Timed out after ${ms} ms`, "TimeoutError"));
  }, ms);
  return controller.signal;
}
function anySignal(signals) {
  if (typeof AbortSignal.any === "function") return AbortSignal.any(signals);
  const controller = new AbortController();
  const listeners = /* @__PURE__ */ new Map();
  const abort = (reason) => {
    for (const [signal, listener] of listeners) signal.removeEventListener("abort", listener);
    controller.abort(reason);
  };
  for (const signal of signals) {
    const listener = () => abort(signal.reason);
    listeners.set(signal, listener);
    signal.addEventListener("abort", listener);
  }
  return controller.signal;
}
async function send(config, op, url, init, body, bodySpec, caps, accept = "application/json") {
  const { retry: callRetry, timeout: callTimeout, idempotencyKey: callKey, ...fetchInit } = init;
  const retry = { ...config.retry, ...callRetry };
  const timeout = callTimeout ?? config.timeout;
  const idempotency = callKey ?? config.idempotencyKey;
  const extra = typeof config.headers === "function" ? await config.headers() : config.headers;
  const headers = {
    Accept: accept,
    ...extra,
    ...toHeaderRecord(fetchInit.headers)
  };
  const method = (fetchInit.method ?? "GET").toUpperCase();
  if (idempotency !== void 0 && idempotency !== false && (method === "POST" || method === "PATCH") && !("Idempotency-Key" in headers) && !("idempotency-key" in headers)) {
    headers["Idempotency-Key"] = typeof idempotency === "string" ? idempotency : typeof idempotency === "function" ? idempotency() : crypto.randomUUID();
  }
  if (typeof config.clientHeader === "string" && typeof document === "undefined" && !("X-Redocly-Client" in headers) && !("x-redocly-client" in headers)) {
    headers["X-Redocly-Client"] = config.clientHeader;
  }
  const context = {
    url,
    method: fetchInit.method ?? "GET",
    headers,
    body,
    operation: op
  };
  const middleware = middlewareChain(config);
  for (const mw of middleware) if (mw.onRequest) await mw.onRequest(context);
  let payload;
  let isStream = false;
  if (context.body !== void 0) {
    const value = context.body;
    const isBinary = value instanceof Blob || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
    const isFormData = typeof FormData !== "undefined" && value instanceof FormData;
    const isURLSearchParams = value instanceof URLSearchParams;
    isStream = typeof ReadableStream !== "undefined" && value instanceof ReadableStream || value !== null && typeof value[Symbol.asyncIterator] === "function";
    const hasContentType = "Content-Type" in context.headers || "content-type" in context.headers;
    if (isFormData || isURLSearchParams || isBinary || isStream || typeof value === "string") {
      payload = value;
      const declared = bodySpec?.contentType;
      if (!isFormData && !isURLSearchParams && !hasContentType && declared !== void 0 && !declared.toLowerCase().includes("multipart")) {
        context.headers["Content-Type"] = declared;
      }
    } else if (bodySpec?.multipart === true) {
      if (!caps.serializeMultipart) {
        throw new Error("Multipart capability not wired: cannot serialize the request body");
      }
      payload = caps.serializeMultipart(value);
    } else {
      payload = JSON.stringify(value);
      if (!hasContentType) {
        context.headers["Content-Type"] = bodySpec?.contentType ?? "application/json";
      }
    }
  }
  const doFetch = config.fetch ?? fetch;
  const maxAttempts = isStream ? 1 : 1 + (retry.retries ?? 0);
  const retryOn = retry.retryOn ?? defaultRetryOn;
  const signal = fetchInit.signal ?? void 0;
  const startedAt = Date.now();
  let attempt = 0;
  let finalResponse;
  let lastResponse;
  try {
    while (true) {
      if (signal?.aborted) throw abortError(signal);
      attempt++;
      const budget = timeout ? timeoutSignal(timeout) : void 0;
      const attemptSignal = budget && signal ? anySignal([signal, budget]) : budget ?? signal;
      let response;
      try {
        response = await doFetch(context.url, {
          ...fetchInit,
          // `fetch` requires it for a stream body.
          ...isStream ? { duplex: "half" } : {},
          signal: attemptSignal ?? null,
          method: context.method,
          headers: context.headers,
          body: payload ?? null
        });
      } catch (error) {
        const timedOut = timeout !== void 0 && budget?.aborted && !signal?.aborted;
        if (attempt < maxAttempts && !signal?.aborted && await retryOn({ attempt, request: context, error })) {
          await sleep(retryDelay(retry, attempt, null), signal);
          continue;
        }
        if (timedOut) throw new TimeoutError(op.id, timeout, attempt);
        throw error;
      }
      lastResponse = response;
      for (let i = middleware.length - 1; i >= 0; i--) {
        const onResponse = middleware[i]?.onResponse;
        if (onResponse) {
          const replaced = await onResponse(response, context);
          if (replaced && replaced !== response) {
            await response.body?.cancel().catch(() => void 0);
            response = replaced;
            lastResponse = replaced;
          }
        }
      }
      if (!response.ok && attempt < maxAttempts && !signal?.aborted && await retryOn({ attempt, request: context, response })) {
        const retryAfter = response.headers.get("retry-after");
        await response.body?.cancel().catch(() => void 0);
        lastResponse = void 0;
        await sleep(retryDelay(retry, attempt, retryAfter), signal);
        continue;
      }
      finalResponse = response;
      break;
    }
  } catch (error) {
    const settled2 = {
      response: lastResponse,
      error,
      attempts: attempt,
      durationMs: Date.now() - startedAt
    };
    for (const mw of middleware) {
      if (!mw.onSettled) continue;
      try {
        await mw.onSettled(context, settled2);
      } catch (hookError) {
        globalThis.console?.warn("onSettled hook failed", hookError);
      }
    }
    throw error;
  }
  const settled = {
    response: finalResponse,
    attempts: attempt,
    durationMs: Date.now() - startedAt
  };
  const hookErrors = [];
  for (const mw of middleware) {
    if (!mw.onSettled) continue;
    try {
      await mw.onSettled(context, settled);
    } catch (hookError) {
      hookErrors.push(hookError);
    }
  }
  if (hookErrors.length > 0) {
    await finalResponse.body?.cancel().catch(() => void 0);
    throw hookErrors[0];
  }
  return { response: finalResponse, context };
}
var LAYERS = ["path", "query", "body", "headers", "cookies"];
var LAYER_OF = {
  path: "path",
  query: "query",
  header: "headers",
  cookie: "cookies"
};
function namespaceArgs(op, args) {
  const layers = {};
  let body;
  let properties;
  const layerOfParam = new Map((op.params ?? []).map((param) => [param.name, param.in]));
  for (const [key, value] of Object.entries(args)) {
    const layer = LAYER_OF[layerOfParam.get(key) ?? ""];
    if (layer !== void 0) {
      (layers[layer] ??= {})[key] = value;
    } else if (key === "body" && op.body !== void 0) {
      body = value;
    } else if (op.body !== void 0) {
      (properties ??= {})[key] = value;
    } else {
      throw new TypeError(
        `Unknown argument "${key}" for operation "${op.id}": it names no declared parameter, and the operation takes no request body.`
      );
    }
  }
  const namespaced = {};
  if (layers.path) namespaced.path = layers.path;
  if (layers.query) namespaced.query = layers.query;
  if (layers.headers) namespaced.headers = layers.headers;
  if (layers.cookies) namespaced.cookies = layers.cookies;
  if (properties !== void 0) namespaced.body = properties;
  else if (body !== void 0) namespaced.body = body;
  return namespaced;
}
function acceptFor(kind) {
  if (kind === "text") return "text/*";
  if (kind === "blob" || kind === "arrayBuffer" || kind === "stream" || kind === "formData") {
    return "*/*";
  }
  return "application/json";
}
function kindFor(op) {
  if (op.responseKind === "void" || op.responseKind === "blob" || op.responseKind === "text") {
    return op.responseKind;
  }
  return "auto";
}
function inputOf(op, args, config) {
  const merged = config.argsStyle === "flat" && op.argsStyle !== "grouped";
  return merged ? namespaceArgs(op, args) : args;
}
function splitArgs(op, args) {
  for (const key of Object.keys(args)) {
    if (!LAYERS.includes(key)) {
      throw new TypeError(
        `Unknown argument "${key}" for operation "${op.id}". Inputs are grouped by layer: ${LAYERS.join(", ")}.`
      );
    }
  }
  return {
    path: args.path ?? {},
    query: args.query,
    body: args.body,
    headers: args.headers,
    cookies: args.cookies
  };
}
function queryStyles(op) {
  let styles;
  for (const param of op.params ?? []) {
    if (param.in !== "query") continue;
    const deviates = param.style !== void 0 && param.style !== "form" || param.explode === false || param.allowReserved === true;
    if (!deviates) continue;
    styles ??= {};
    styles[param.name] = {
      style: param.style ?? "form",
      explode: param.explode ?? true,
      ...param.allowReserved === void 0 ? {} : { allowReserved: param.allowReserved }
    };
  }
  return styles;
}
function stringHeaders(headers) {
  const out = {};
  for (const [key, value] of Object.entries(headers ?? {})) {
    if (value !== void 0 && value !== null) out[key] = String(value);
  }
  return out;
}
async function prepareRequest(config, op, args, init, caps) {
  const { path, query, body, headers, cookies } = splitArgs(op, args);
  const authed = op.security?.length && caps.resolveAuth ? await caps.resolveAuth(op.security, config) : { headers: {}, query: {} };
  const cookiePairs = Object.entries(cookies ?? {}).filter(([, value]) => value !== void 0 && value !== null).map(([cookieName, value]) => `${cookieName}=${encodeURIComponent(String(value))}`);
  if (cookiePairs.length > 0) {
    authed.headers.Cookie = [authed.headers.Cookie, ...cookiePairs].filter(Boolean).join("; ");
  }
  const fullQuery = { ...query, ...authed.query };
  const url = buildUrl(
    config.serverUrl ?? "",
    substitutePath(op.path, path),
    Object.keys(fullQuery).length > 0 ? fullQuery : void 0,
    queryStyles(op)
  );
  const mergedInit = {
    ...init,
    method: op.method.toUpperCase(),
    // Precedence, lowest → highest (later spreads win): injected auth → explicit
    // header params → caller `init.headers` — the caller always overrides both.
    headers: {
      ...authed.headers,
      ...stringHeaders(headers),
      ...toHeaderRecord(init.headers)
    }
  };
  return { url, init: mergedInit, body };
}
function coerceResponseHeader(raw, type) {
  if (raw === null) return void 0;
  if (type === "number") {
    if (raw.trim() === "") return void 0;
    const value = Number(raw);
    return Number.isFinite(value) ? value : void 0;
  }
  if (type === "boolean") {
    const value = raw.trim().toLowerCase();
    if (value === "true") return true;
    if (value === "false") return false;
    return void 0;
  }
  return raw;
}
function readEnvelopeHeaders(response, specs) {
  const headers = {};
  for (const spec of specs ?? []) {
    const value = coerceResponseHeader(response.headers.get(spec.name), spec.type);
    if (value !== void 0) headers[spec.key] = value;
  }
  return headers;
}
async function execute(config, op, args, init, caps) {
  const prepared = await prepareRequest(config, op, args, init, caps);
  const opCtx = { id: op.id, path: op.path, tags: [...op.tags ?? []] };
  const { parseAs, envelope, ...sendInit } = prepared.init;
  const readKind = parseAs ?? kindFor(op);
  const { response, context } = await send(
    config,
    opCtx,
    prepared.url,
    sendInit,
    prepared.body,
    op.body,
    caps,
    acceptFor(readKind)
  );
  if (config.errorMode === "result") {
    if (!response.ok) {
      return { data: void 0, error: await readError(response), response };
    }
    return { data: await parse(response, readKind), error: void 0, response };
  }
  if (!response.ok) {
    let error = new ApiError(
      context.url,
      response.status,
      response.statusText,
      await readError(response)
    );
    for (const mw of middlewareChain(config)) {
      if (mw.onError) error = await mw.onError(error, context);
    }
    throw error;
  }
  const data = await parse(response, readKind);
  if (envelope === true) {
    return {
      data,
      headers: readEnvelopeHeaders(response, op.responseHeaders),
      response
    };
  }
  return data;
}
function paginateCapability(caps, op) {
  if (!caps.paginate) {
    throw new Error(`Pagination capability not wired: cannot iterate operation "${op.id}"`);
  }
  return caps.paginate;
}
function pageCall(method, config) {
  const callWithoutEnvelope = (args, init) => {
    if (!init || init.envelope === void 0) return method(args, init);
    const { envelope: _envelope, ...pageInit } = init;
    return method(args, pageInit);
  };
  if (config.errorMode !== "result") return callWithoutEnvelope;
  return async (args, init) => {
    const envelope = await callWithoutEnvelope(args, init);
    if (!envelope.response.ok) {
      const { response } = envelope;
      throw new ApiError(response.url, response.status, response.statusText, envelope.error);
    }
    return envelope.data;
  };
}
function linkPageCall(config, op, caps) {
  return async (args = {}, init = {}) => {
    const prepared = await prepareRequest(config, op, args, init, caps);
    const { parseAs, envelope: _envelope, ...sendInit } = prepared.init;
    const readKind = parseAs ?? kindFor(op);
    const opCtx = { id: op.id, path: op.path, tags: [...op.tags ?? []] };
    const { response } = await send(
      config,
      opCtx,
      prepared.url,
      sendInit,
      prepared.body,
      op.body,
      caps,
      acceptFor(readKind)
    );
    if (!response.ok) {
      throw new ApiError(
        prepared.url,
        response.status,
        response.statusText,
        await readError(response)
      );
    }
    return {
      page: await parse(response, readKind),
      linkHeader: response.headers.get("link"),
      // Some `Response` implementations leave `url` empty (mocks, constructed responses).
      url: response.url === "" ? prepared.url : response.url
    };
  };
}
function createClientCore(operations2, initial = {}, caps = {}) {
  const given = initial;
  const config = { ...given, middleware: [...given.middleware ?? []] };
  const client2 = {};
  for (const [name, op] of Object.entries(operations2)) {
    if (op.responseKind === "sse") {
      const method = (given2 = {}, init = {}) => {
        const args = inputOf(op, given2, config);
        if (!caps.sse) {
          throw new Error(`SSE capability not wired: cannot stream operation "${op.id}"`);
        }
        const stream = caps.sse;
        return (async function* () {
          const opCtx = { id: op.id, path: op.path, tags: [...op.tags ?? []] };
          const prepare = async () => {
            const prepared = await prepareRequest(config, op, args, init, caps);
            return { url: prepared.url, init: prepared.init, body: prepared.body };
          };
          yield* stream(config, opCtx, prepare, op.sseDataKind ?? "text");
        })();
      };
      Object.defineProperty(method, "name", { value: name });
      Object.defineProperty(method, "operationId", { value: op.id });
      client2[name] = method;
    } else {
      const raw = (args = {}, init = {}) => execute(config, op, args, init, caps);
      const method = (args = {}, init = {}) => raw(inputOf(op, args, config), init);
      Object.defineProperty(method, "name", { value: name });
      Object.defineProperty(method, "operationId", { value: op.id });
      const spec = op.pagination;
      client2[name] = spec === void 0 ? method : spec.style === "link" || spec.style === "body-link" ? Object.assign(method, {
        pages: (args, init) => paginateCapability(caps, op).pagesByLink(
          linkPageCall(config, op, caps),
          spec,
          inputOf(op, args ?? {}, config),
          init
        ),
        items: (args, init) => paginateCapability(caps, op).itemsByLink(
          linkPageCall(config, op, caps),
          spec,
          inputOf(op, args ?? {}, config),
          init
        )
      }) : Object.assign(method, {
        pages: (args, init) => paginateCapability(caps, op).pages(
          pageCall(raw, config),
          spec,
          inputOf(op, args ?? {}, config),
          init
        ),
        items: (args, init) => paginateCapability(caps, op).items(
          pageCall(raw, config),
          spec,
          inputOf(op, args ?? {}, config),
          init
        )
      });
    }
  }
  client2.configure = (next) => {
    const { errorMode: _fixedMode, argsStyle: _fixedStyle, auth, ...rest } = next;
    Object.assign(config, rest);
    if (auth) {
      config.auth = {
        ...config.auth,
        ...auth,
        ...auth.apiKey ? { apiKey: { ...config.auth?.apiKey, ...auth.apiKey } } : {}
      };
    }
  };
  client2.use = (...middleware) => {
    config.middleware = [...config.middleware ?? [], ...middleware];
  };
  client2.auth = {
    bearer(token) {
      config.auth = { ...config.auth, bearer: token };
    },
    basic(username, password) {
      config.auth = { ...config.auth, basic: { username, password } };
    },
    apiKey(scheme, value) {
      config.auth = { ...config.auth, apiKey: { ...config.auth?.apiKey, [scheme]: value } };
    }
  };
  return client2;
}
function createClient(operations2, config) {
  return createClientCore(operations2, config, { resolveAuth });
}
var client = createClient(OPERATIONS, { serverUrl: "https://api.example.com", errorMode: "result", clientHeader: "redocly-client-generator" });
var { configure, use } = client;
var { captureConsent, verifyCertificate, listCertificates, searchCertificates, readCertificate, exportEvidencePack, authorizeShare, signShareRequest, grantSandboxShare, redeemShare, revokeShare, acknowledgeShare, listShares, readShare, readCurrentValues, listEvents, readSandboxClock, moveSandboxClock, triggerSandboxEvent, resetSandbox, requestWithdrawalCode, confirmWithdrawal, withdrawByLink, withdrawalReceipt, recordWithdrawal, acknowledgeWithdrawal, matchSubject, checkContact, health, issuerKeys, trust, openApiDocument } = client;

// kit/client.ts
var unreachableFailure = { code: "unreachable", message: "The service did not answer." };
var unexpectedResponseFailure = { code: "unexpected_answer", message: "The response did not come from the service." };
var isObject = (value) => typeof value === "object" && value !== null;
var createBadGatewayResponse = () => new Response(null, { status: 502 });
var fileOperations = /* @__PURE__ */ new Set(["exportEvidencePack"]);
var unwrapEnvelope = async (response, { operation }) => {
  if (!(response.headers.get("content-type") ?? "").includes("json")) {
    return !response.ok || fileOperations.has(operation.id) ? response : createBadGatewayResponse();
  }
  const text = await response.text();
  const { status, statusText, headers } = response;
  try {
    const body = JSON.parse(text);
    const isEnvelope = isObject(body) && "request_id" in body && "ok" in body;
    const content = isEnvelope ? body.ok === true ? body.data : body.error : body;
    return new Response(JSON.stringify(content), { status, statusText, headers });
  } catch {
    return response.ok ? createBadGatewayResponse() : new Response(null, { status, statusText });
  }
};
var operations = OPERATIONS;
var isUnsafeToRetry = ({ request }) => request.method === "POST" && !(operations[request.operation.id]?.params ?? []).some(({ name }) => name === "Idempotency-Key");
var isInProgress = ({ response }) => response?.status === 409 && response.headers.has("retry-after");
var toFailure = (error) => isObject(error) && typeof error.code === "string" && typeof error.message === "string" ? { code: error.code, message: error.message } : unexpectedResponseFailure;
var withErrorsAsValues = (call) => async (args, init) => {
  try {
    const result = await call(args, init);
    return result.response.ok ? result : { ...result, error: toFailure(result.error) };
  } catch (error) {
    const isTimeout = error instanceof TimeoutError || error instanceof DOMException && error.name === "TimeoutError";
    if (!isTimeout && !(error instanceof TypeError)) throw error;
    return { data: void 0, error: unreachableFailure, response: Response.error() };
  }
};
var createSvc = ({
  baseUrl,
  apiKey,
  retries = 2,
  patienceSeconds = 30,
  timeoutMs = 15e3,
  fetch: customFetch
}) => {
  const client2 = createClient(OPERATIONS, {
    serverUrl: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    errorMode: "result",
    clientHeader: false,
    idempotencyKey: true,
    timeout: timeoutMs,
    retry: {
      retries,
      retryDelay: 500,
      retryOn: (attempt) => {
        if (Number(attempt.response?.headers.get("retry-after") ?? 0) > patienceSeconds) return false;
        if (attempt.response?.status === 429) return true;
        if (isUnsafeToRetry(attempt)) return false;
        return defaultRetryOn(attempt) || isInProgress(attempt);
      }
    },
    onResponse: unwrapEnvelope,
    ...customFetch !== void 0 && { fetch: customFetch },
    ...apiKey !== void 0 && { auth: { bearer: apiKey } }
  });
  const calls = client2;
  return Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, withErrorsAsValues(calls[name])]));
};
var nextPageQueries = {
  listEvents: (page) => page.has_more ? { cursor: page.next_cursor } : null,
  listShares: (page) => page.has_more ? { starting_after: page.shares.at(-1)?.id } : null,
  // Only the newest certificates can be listed, so the last page may come before `total` is reached.
  listCertificates: (page) => page.certs.length > 0 && page.page * page.per_page < page.total ? { page: page.page + 1 } : null
};
async function* pagesOf(svc, name, query) {
  const list = svc[name];
  const getNextQuery = nextPageQueries[name];
  for (let pageQuery = {}; pageQuery !== null; ) {
    const result = await list({ query: { ...query, ...pageQuery } });
    yield result;
    pageQuery = result.error === void 0 ? getNextQuery(result.data) : null;
  }
}
export {
  createSvc,
  pagesOf
};
