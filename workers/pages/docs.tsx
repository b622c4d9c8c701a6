// GET /docs: the first hour, the guides, and the reference of the API, set from its own OpenAPI description. GET /docs/{name}: one guide.
// Rendered here and not by a ready-made viewer: those load themselves from elsewhere, need a script to show anything, and break the
// rule that a page is our own files only.
import type { Context, Hono } from "hono";
import { raw } from "hono/html";
import type { Child, FC } from "hono/jsx";
import type { Config } from "../env.ts";
import type { Api } from "../http/context.ts";
import { publicRead } from "../http/guards.ts";
import { brand } from "./brand.ts";
import {
  contentExample,
  curlOf,
  eventTypesOf,
  jsonText,
  limitsInWords,
  membersOf,
  operationsOf,
  payloadOf,
  present,
  refusalsOf,
  successesOf,
  typeInWords,
  type ApiDocument,
  type Member,
  type Operation,
  type Schema,
} from "./docs-reading.ts";
import { guides } from "./guides.gen.ts";
import { pageAnswer } from "./layout.tsx";

/** The little Markdown that descriptions use: `code`, **strong** and *emphasis*. */
const Inline: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((piece, at) => {
      if (at % 2 === 0) return piece;
      if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
      return piece.startsWith("**") ? <strong>{piece.slice(2, -2)}</strong> : <em>{piece.slice(1, -1)}</em>;
    })}
  </>
);

const Paragraphs: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split("\n\n").map((paragraph) => (
      <p>
        <Inline text={paragraph} />
      </p>
    ))}
  </>
);

const Code: FC<{ text: string; label: string }> = ({ text, label }) => (
  <figure class="sample">
    <figcaption>{label}</figcaption>
    <pre translate="no">
      <code>{text}</code>
    </pre>
  </figure>
);

interface Described {
  readonly name: string;
  readonly document: ApiDocument;
  readonly schema: Schema;
  readonly remark: string;
  readonly children?: Child;
}

/** One input or output: its name, its type and limits, what it means. */
const Entry: FC<Described> = ({ name, document, schema, remark, children }) => {
  const { schema: own } = present(document, schema);
  const limits = limitsInWords(own).join("; ");
  return (
    <li>
      <p class="entry">
        <code class="entry-name">{name}</code> <span class="entry-type">{typeInWords(document, schema)}</span>
        {remark !== "" && <span class={`entry-${remark === "required" ? "required" : "type"}`}>{remark}</span>}
      </p>
      {own.description !== undefined && (
        <p>
          <Inline text={own.description} />
        </p>
      )}
      {limits !== "" && (
        <p class="quiet">
          <Inline text={`${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`} />
        </p>
      )}
      {children}
    </li>
  );
};

const deepest = 6; // descriptions here are three deep; a schema that names itself must end somewhere

/** The members of an object, each with its own members behind a disclosure. `optional` marks what may be left out. */
const Members: FC<{ document: ApiDocument; members: readonly Member[]; sent: boolean; depth?: number }> = ({
  document,
  members,
  sent,
  depth = 0,
}) => (
  <ul class="entries">
    {members.map(({ name, schema, required }) => {
      const inner = depth < deepest ? membersOf(document, schema) : [];
      const remark = required ? (sent ? "required" : "") : sent ? "" : "not always present";
      return (
        <Entry name={name} document={document} schema={schema} remark={remark}>
          {inner.length > 0 && (
            <details>
              <summary>
                {inner.length === 1 ? "Its member" : `Its ${inner.length} members`}
                <span class="visually-hidden"> of {name}</span>
              </summary>
              <Members document={document} members={inner} sent={sent} depth={depth + 1} />
            </details>
          )}
        </Entry>
      );
    })}
  </ul>
);

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

const Inputs: FC<{ document: ApiDocument; operation: Operation }> = ({ document, operation }) => (
  <>
    {(["path", "query", "header"] as const).map((place) => {
      const inputs = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
      return (
        inputs.length > 0 && (
          <>
            <h4>{places[place]}</h4>
            <ul class="entries">
              {inputs.map(({ name, schema, required, description }) => (
                <Entry
                  name={name}
                  document={document}
                  schema={description === undefined ? schema : { ...schema, description }}
                  remark={required ? "required" : ""}
                />
              ))}
            </ul>
          </>
        )
      );
    })}
    {operation.requestBody !== undefined && (
      <>
        <h4>Body</h4>
        <p>
          {Object.keys(operation.requestBody.content).map((type, at) => (
            <>
              {at > 0 && " or "}
              <code>{type}</code>
            </>
          ))}
          . {operation.requestBody.description !== undefined && <Inline text={operation.requestBody.description} />}
        </p>
        <Members
          document={document}
          members={membersOf(document, operation.requestBody.content["application/json"]?.schema ?? {})}
          sent={true}
        />
      </>
    )}
  </>
);

const Successes: FC<{ document: ApiDocument; operation: Operation }> = ({ document, operation }) => (
  <>
    {successesOf(operation).map(({ status, answer }) => {
      const content = answer.content?.["application/json"];
      const payload = content === undefined ? undefined : payloadOf(document, content.schema);
      const members = payload === undefined ? [] : membersOf(document, payload);
      const headers = Object.entries(answer.headers ?? {});
      return (
        <>
          <h4>
            <code>{status}</code> <Inline text={answer.description} />
          </h4>
          {members.length > 0 && (
            <>
              {payload !== content?.schema && (
                <p class="quiet">
                  Members of <code>data</code>:
                </p>
              )}
              <Members document={document} members={members} sent={false} />
            </>
          )}
          {headers.length > 0 && (
            <p class="quiet">
              With the headers{" "}
              {headers.map(([name, { description }], at) => (
                <>
                  {at > 0 && "; "}
                  <code>{name}</code>
                  {description !== undefined && (
                    <>
                      {" "}
                      (<Inline text={description.replace(/\.$/, "")} />)
                    </>
                  )}
                </>
              ))}
              .
            </p>
          )}
          {content !== undefined && <Code label={`Answer ${status}`} text={jsonText(contentExample(document, content))} />}
        </>
      );
    })}
  </>
);

const Refusals: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h4>Refusals</h4>
    <dl class="refusals">
      {refusalsOf(operation).map(({ status, code, when }) => (
        <div>
          <dt>
            <span class="refusal-status">{status}</span> <code>{code}</code>
          </dt>
          <dd>
            <Inline text={when} />
          </dd>
        </div>
      ))}
    </dl>
  </>
);

const callers = (operation: Operation): string => {
  if (operation.security.some((need) => "session" in need)) return "For a person who is signed in";
  const withKey = operation.security.some((need) => "apiKey" in need);
  if (!withKey) return "For anyone, without a credential";
  return operation.security.some((need) => Object.keys(need).length === 0)
    ? "For anyone; with an API key it also speaks for your server"
    : "With your API key";
};

const OperationSection: FC<{ document: ApiDocument; operation: Operation }> = ({ document, operation }) => (
  <section class="operation" aria-labelledby={operation.operationId}>
    <h3 id={operation.operationId} tabindex={-1}>
      {operation.summary}
    </h3>
    <p class="call">
      <span class="method">{operation.method}</span> <code translate="no">{operation.path}</code>
    </p>
    {operation.description !== undefined && <Paragraphs text={operation.description} />}
    <p class="quiet">{callers(operation)}.</p>
    <Code label="From the command line" text={curlOf(document, operation)} />
    <Inputs document={document} operation={operation} />
    <Successes document={document} operation={operation} />
    <Refusals operation={operation} />
  </section>
);

/** The values an event carries, of those that carry any. */
const changedBy = (document: ApiDocument, body: Schema): Member[] => {
  const data = membersOf(document, body).find(({ name }) => name === "data");
  return data === undefined ? [] : membersOf(document, data.schema);
};

/** What is posted to endpoints: one body for all types, of which each has its ids and its values. */
const EventTypes: FC<{ document: ApiDocument }> = ({ document }) => (
  <section class="operation" aria-labelledby="event-types">
    <h3 id="event-types" tabindex={-1}>
      What is posted to your endpoints
    </h3>
    <p>
      Each type of event is posted as the feed holds it, signed in <code>Svc-Signature</code>. The type says which id is set and whether{" "}
      <code>data</code> holds new values.
    </p>
    {eventTypesOf(document).map(({ type, when, body }) => {
      const values = changedBy(document, body.schema);
      return (
        <section class="event-type" aria-labelledby={`event-${type}`}>
          <h4 id={`event-${type}`}>
            <code translate="no">{type}</code>
          </h4>
          <p>
            <Inline text={when} />
          </p>
          {values.length > 0 && (
            <p class="quiet">
              In <code>data</code>:{" "}
              {values.map(({ name }, at) => (
                <>
                  {at > 0 && ", "}
                  <code>{name}</code>
                </>
              ))}
              .
            </p>
          )}
          <Code label={`Body of ${type}`} text={jsonText(contentExample(document, body))} />
        </section>
      );
    })}
  </section>
);

/** Where the reader is; folded above the text where there is no room beside it. */
const Contents: FC<{ children?: Child }> = ({ children }) => (
  // a tab stop, so that it can be scrolled by keyboard where it stands beside the text
  <nav class="contents" aria-label="Contents" tabindex={0}>
    <details>
      <summary>Contents</summary>
      <ul>{children}</ul>
    </details>
  </nav>
);

const firstHour = "first-hour";
const furtherGuides = Object.entries(guides).filter(([name]) => name !== firstHour);

const GuideLinks: FC<{ current?: string }> = ({ current }) => (
  <li>
    <p>Guides</p>
    <ul>
      {furtherGuides.map(([name, { title }]) => (
        <li>
          <a href={`/docs/${name}`} aria-current={name === current ? "page" : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </li>
);

const SectionLinks: FC<{ name: string }> = ({ name }) => (
  <li>
    <p>{guides[name]?.title}</p>
    <ul>
      {guides[name]?.sections.map(({ id, title }) => (
        <li>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
    </ul>
  </li>
);

const ReferenceLinks: FC<{ document: ApiDocument }> = ({ document }) => (
  <>
    <li>
      <p>Reference</p>
      <ul>
        <li>
          <a href="#introduction">Introduction</a>
        </li>
        <li>
          <a href="#keys">API keys and sessions</a>
        </li>
      </ul>
    </li>
    {document.tags.map(({ name }) => (
      <li>
        <p>{titleOf(name)}</p>
        <ul>
          {operationsOf(document, name).map(({ operationId, summary, method }) => (
            <li>
              <a href={`#${operationId}`}>
                {summary} <span class="contents-method">{method}</span>
              </a>
            </li>
          ))}
          {name === "events" && (
            <li>
              <a href="#event-types">What is posted to your endpoints</a>
            </li>
          )}
        </ul>
      </li>
    ))}
  </>
);

/** A guide speaks of the addresses of this deployment. */
const guideText = (name: string, { baseUrl, verifyUrl, cdnUrl }: Config): Child =>
  raw(
    (guides[name]?.html ?? "")
      .replaceAll("{cdn_url}", cdnUrl)
      .replaceAll("{verify_url}", verifyUrl)
      .replaceAll("https://api.example.com", new URL(baseUrl).origin),
  );

const titleOf = (tag: string): string => tag.charAt(0).toUpperCase() + tag.slice(1);

const Reference: FC<{ document: ApiDocument; config: Config }> = ({ document, config }) => (
  <div class="reference">
    <Contents>
      <SectionLinks name={firstHour} />
      <GuideLinks />
      <ReferenceLinks document={document} />
    </Contents>
    <article class="reference-text">
      <h1>Documentation</h1>
      <section class="guide" aria-labelledby="first-hour">
        <h2 id="first-hour">{guides[firstHour]?.title}</h2>
        {guideText(firstHour, config)}
      </section>
      <section aria-labelledby="guides">
        <h2 id="guides">Guides</h2>
        <ul class="plain">
          {furtherGuides.map(([name, { title }]) => (
            <li>
              <a href={`/docs/${name}`}>{title}</a>
            </li>
          ))}
        </ul>
      </section>
      <h2 class="part">{document.info.title}</h2>
      <p class="quiet">
        Version {document.info.version}, at <code translate="no">{document.servers[0]?.url}</code>. For tools:{" "}
        <a href="/v1/openapi.json">the OpenAPI 3.1 description</a>, from which this page is set.
      </p>
      <section aria-labelledby="introduction">
        <h2 id="introduction" tabindex={-1}>
          Introduction
        </h2>
        <Paragraphs text={document.info.description} />
      </section>
      <section aria-labelledby="keys">
        <h2 id="keys" tabindex={-1}>
          API keys and sessions
        </h2>
        {Object.values(document.components.securitySchemes).map(({ description = "" }) => (
          <Paragraphs text={description} />
        ))}
      </section>
      {document.tags.map(({ name, description }) => (
        <section aria-labelledby={`tag-${name}`}>
          <h2 id={`tag-${name}`}>{titleOf(name)}</h2>
          <p>
            <Inline text={description} />
          </p>
          {operationsOf(document, name).map((operation) => (
            <OperationSection document={document} operation={operation} />
          ))}
          {name === "events" && <EventTypes document={document} />}
        </section>
      ))}
    </article>
  </div>
);

const texts = new WeakMap<ApiDocument, string>();

/** Set once an isolate: some 150 KB that are the same for everyone. */
const referenceText = (document: ApiDocument, config: Config): string => {
  const text = texts.get(document) ?? String(<Reference document={document} config={config} />);
  texts.set(document, text);
  return text;
};

const docs = (c: Context<Api>, document: ApiDocument): Promise<Response> =>
  pageAnswer(c, 200, () => ({
    title: `Documentation · ${brand}`,
    only: "en",
    findable: true,
    content: raw(referenceText(document, c.var.services.config)),
  }));

const guide = (c: Context<Api>): Response | Promise<Response> => {
  const name = c.req.param("guide") ?? "";
  const found = Object.hasOwn(guides, name) ? guides[name] : undefined;
  if (found === undefined) return c.notFound();
  return pageAnswer(c, 200, () => ({
    title: `${found.title} · ${brand}`,
    only: "en",
    findable: true,
    content: (
      <div class="reference">
        <Contents>
          <li>
            <a href="/docs">Documentation</a>
          </li>
          <SectionLinks name={name} />
          <GuideLinks current={name} />
        </Contents>
        <article class="reference-text guide">
          <h1>{found.title}</h1>
          {guideText(name, c.var.services.config)}
        </article>
      </div>
    ),
  }));
};

/** `describe` gives the OpenAPI document of the whole app. */
export const mountDocs = (app: Hono<Api>, describe: () => object): void => {
  app.get("/docs", publicRead, (c) => docs(c, describe() as ApiDocument));
  app.get("/docs/:guide", publicRead, guide);
};
