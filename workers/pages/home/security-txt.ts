// GET /.well-known/security.txt (RFC 9116): whom to tell of a weakness. There is none where the operator has named nobody.
import type { Hono } from "hono";
import { dayMs, isoOf } from "../../../core/time.ts";
import type { Config } from "../../env.ts";
import type { Api } from "../../http/context.ts";
import { failure } from "../../http/envelope.ts";

const path = "/.well-known/security.txt";
const validDays = 180; // the RFC advises less than a year

export const mountSecurityTxt = (app: Hono<Api>, { securityContact, baseUrl }: Config): void => {
  app.get(path, (c) => {
    if (securityContact === null) return failure(c, "not_found");
    const today = Math.floor(c.var.services.clock() / dayMs) * dayMs;
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${isoOf(today + validDays * dayMs)}`,
      "Preferred-Languages: en, es, fr",
      `Canonical: ${new URL(baseUrl).origin}${path}`,
    ];
    return c.text(`${lines.join("\n")}\n`);
  });
};
