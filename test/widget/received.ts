// Parses what a form's backend received, and separates the certificate from the rest.

import type { IncomingMessage } from "node:http";

/** One submission as the form's backend received it. */
export interface Received {
  method: string;
  path: string;
  /** The media type without parameters, such as the boundary. */
  type: string;
  entries: [name: string, value: string][];
  json?: unknown;
  headers: IncomingMessage["headers"];
}

/** Returns the certificate IDs in a request: from a form entry, a line of a text/plain form, or anywhere in a JSON body. */
export function extractCertificates({ entries, json }: Received): string[] {
  const named = entries.filter(([name]) => name === "svc_cert_id").map(([, value]) => value);
  const otherContent = JSON.stringify([json, entries.filter(([name]) => name === "(body)")]);
  return [...named, ...(otherContent.match(/cc_\d+/g) ?? [])];
}

/** Returns the request without the certificate and without parts that differ between two visits to the same page. */
export function omitCertificate({ method, type, entries, json }: Received) {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((item) => Object(item).name !== "svc_cert_id").map(strip);
    if (typeof value !== "object" || value === null) return value;
    const kept = Object.entries(value).filter(([key]) => key !== "svc_cert_id");
    return Object.fromEntries(kept.map(([key, inner]) => [key, strip(inner)]));
  };
  const others = entries.filter(([name]) => name !== "svc_cert_id");
  return {
    method,
    type,
    entries: others.map(([name, value]) => [name, name === "(body)" ? value.replace(/svc_cert_id=.*\r\n/, "") : value]),
    json: strip(json),
  };
}

/** Reads a submission in any encoding. Query parameters also count as entries. */
export async function parseReceived(request: IncomingMessage, url: URL): Promise<Received> {
  const bytes = await readBytes(request);
  const type = (request.headers["content-type"] ?? "").split(";")[0]!;
  const entries: [string, string][] = [...url.searchParams];
  let json: unknown;
  if (type === "application/json") json = JSON.parse(bytes.toString());
  else if (type === "application/x-www-form-urlencoded") entries.push(...new URLSearchParams(bytes.toString()));
  else if (type === "multipart/form-data") {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": request.headers["content-type"]! } }).formData();
    for (const [name, value] of form) {
      entries.push([name, typeof value === "string" ? value : `${value.name}:${value.type}:${await value.text()}`]);
    }
  } else if (bytes.length) entries.push(["(body)", bytes.toString()]);
  return { method: request.method!, path: url.pathname, type, entries, ...(json === undefined ? {} : { json }), headers: request.headers };
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
