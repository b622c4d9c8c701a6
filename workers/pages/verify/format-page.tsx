// GET /c/format: explains how a certificate is built, for readers who want to check one themselves.
import type { Page } from "../shared/layout.tsx";
import { DescriptionRow, type PageContext } from "../shared/components.tsx";

export const formatPage = ({ messages: { format } }: PageContext): Page => ({
  title: format.title,
  content: (
    <article class="prose">
      <h1>{format.title}</h1>
      <p>{format.intro}</p>
      <h2>{format.record}</h2>
      <p>{format.recordText}</p>
      <dl>
        {Object.entries(format.members).map(([name, meaning]) => (
          <DescriptionRow name={<code translate="no">{name}</code>}>{meaning}</DescriptionRow>
        ))}
      </dl>
      <h2>{format.person}</h2>
      <p>{format.personText}</p>
      <h2>{format.signature}</h2>
      <p>
        {format.signatureText} <a href="/.well-known/jwks.json">{format.keysLink}</a>
      </p>
      <h2>{format.ledger}</h2>
      <p>{format.ledgerText}</p>
      <h2>{format.limits}</h2>
      <p>{format.limitsText}</p>
    </article>
  ),
});
