// GET /c/format: explains the content and format of a certificate to readers who want to check one themselves.
import type { Page } from "../shared/layout.tsx";
import { InlineMarkdown, Section, type PageContext, PropertyList } from "../shared/components.tsx";

export const formatPage = ({ messages: { format } }: PageContext): Page => ({
  title: format.title,
  content: (
    <>
      <div>
        <h1>{format.title}</h1>
        <p class="lede">{format.intro}</p>
      </div>
      <Section name="the-record" heading={format.record}>
        <p>{format.recordText}</p>
        <PropertyList lines={Object.entries(format.members).map(([name, meaning]) => [<code translate="no">{name}</code>, meaning])} />
      </Section>
      <Section name="person" heading={format.person}>
        <p>
          <InlineMarkdown text={format.personText} />
        </p>
      </Section>
      <Section name="signature" heading={format.signature}>
        <p>
          {format.signatureText} <a href="/.well-known/jwks.json">{format.keysLink}</a>
        </p>
      </Section>
      <Section name="public-log" heading={format.ledger}>
        <p>
          <InlineMarkdown text={format.ledgerText} />
        </p>
      </Section>
      <Section name="limits" heading={format.limits}>
        <p>{format.limitsText}</p>
      </Section>
    </>
  ),
});
