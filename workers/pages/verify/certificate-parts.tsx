// What the sections of a certificate's page are set from.
import type { Child, FC } from "hono/jsx";
import type { ViewContext } from "../../../core/certificates/views.ts";
import type { TrustDocument } from "../../../core/ledger/trust-document.ts";
import type { CertificatePage } from "../../operations/certificates/page.ts";
import type { Setting } from "../shared/parts.tsx";
import type { LanguageChoice } from "../withdrawal/withdrawal-parts.tsx";

export interface Shown extends ViewContext {
  readonly page: CertificatePage;
  readonly setting: Setting;
  readonly choice: LanguageChoice;
  /** What the page hands its own verifier: the public answer of verify, and the keys of the service. */
  readonly published: object;
  readonly trust: TrustDocument;
}

export const Section: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class={name} aria-labelledby={`${name}-heading`}>
    <h2 id={`${name}-heading`}>{heading}</h2>
    {children}
  </section>
);

export const Row: FC<{ name: Child; children?: Child }> = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
