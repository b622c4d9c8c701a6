// Builds the benchmark's submissions. Each is the page script's request body for a short lead form, with a unique email address and ID.
import { randomUUID } from "node:crypto";
import type { DemoBusiness } from "../demo-world.ts";
import type { Request } from "./load.ts";

export const consentRequest = (business: DemoBusiness, origin: string, n: number): Request => ({
  method: "POST",
  path: "/v1/consent",
  headers: {
    "content-type": "text/plain;charset=UTF-8",
    origin,
    "sec-fetch-mode": "cors",
    "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    "cf-connecting-ip": `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
  },
  body: JSON.stringify({
    client_id: business.clients.live,
    fields: { email: `visitor${n}.${process.pid}@example.com`, first_name: "Pat", phone: `+1202${2_000_000 + n}` },
    disclosure_text:
      "By clicking Send I agree that Acme Solar LLC may call or email me about solar quotes. Consent is not a condition of purchase.",
    entities: ["Acme Solar LLC", "Bright Homes Inc"],
    purpose: "solar quote follow-up",
    page_url: `${origin}/quote?campaign=${n}`,
    presentation: { opt_in_type: "manual", checkbox_name: "agree", font_px: 16, visible: true },
    widget: { version: "1.0.0" },
    locale: "en",
    referrer: "",
    submission_id: randomUUID(),
  }),
});
