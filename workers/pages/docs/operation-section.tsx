// One operation of the API reference (call, inputs, responses, errors), and the list of webhook event types.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { CodeBlock, CopyButton, HighlightedCode, Icon, InlineMarkdown, JoinedList } from "../shared/components.tsx";
import {
  getContentExample,
  buildCurlCommand,
  listEventTypes,
  formatJson,
  describeLimits,
  listMembers,
  getPayloadSchema,
  resolveNullable,
  listRefusals,
  listSuccesses,
  describeType,
  type ApiDocument,
  type SchemaMember,
  type Operation,
  type Schema,
} from "./openapi-document.ts";

const ApiDocumentContext = createContext<ApiDocument | null>(null);

export const ApiDocumentProvider = ApiDocumentContext.Provider;

const useApiDocument = (): ApiDocument => {
  const document = useContext(ApiDocumentContext);
  if (document === null) throw new Error("docs: no ApiDocumentProvider above this component. Wrap it in one.");
  return document;
};

export const MarkdownParagraphs: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split("\n\n").map((paragraph) => (
      <p>
        <InlineMarkdown text={paragraph} />
      </p>
    ))}
  </>
);

/** A code sample. With an `id`, it has a copy button. */
const CodeSample: FC<{ text: string; label: string; language: "json" | "sh"; id?: string }> = ({ text, label, language, id }) => (
  <figure class="code">
    <figcaption>
      {label} {id !== undefined && <CopyButton elementId={id} label={`Copy ${label}`} />}
    </figcaption>
    <CodeBlock label={label} id={id}>
      <HighlightedCode text={text} language={language} />
    </CodeBlock>
  </figure>
);

const SchemaEntry: FC<{ name: string; schema: Schema; remark: string; children?: Child }> = ({ name, schema, remark, children }) => {
  const document = useApiDocument();
  const { schema: resolved } = resolveNullable(document, schema);
  // Leave out the constraints that the description repeats word for word.
  const limits = describeLimits(resolved)
    .filter((limit) => resolved.description?.includes(limit) !== true)
    .join("; ");
  return (
    <li>
      <p class="entry">
        <code class="entry-name">{name}</code> <span class="quiet">{describeType(document, schema)}</span>{" "}
        {remark !== "" && <span class={remark === "required" ? "pill caution" : "pill"}>{remark}</span>}
      </p>
      {resolved.description !== undefined && (
        <p>
          <InlineMarkdown text={resolved.description} />
        </p>
      )}
      {limits !== "" && (
        <p class="quiet">
          <InlineMarkdown text={`${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`} />
        </p>
      )}
      {children}
    </li>
  );
};

const maxSchemaDepth = 6; // the API's schemas have at most six levels; the limit only stops a recursive schema

/**
 * Lists the members of an object, with nested members collapsed. In inputs, required members are marked. In outputs, members that may be
 * missing are marked.
 */
const SchemaMembers: FC<{ members: readonly SchemaMember[]; isInput: boolean; depth?: number }> = ({ members, isInput, depth = 0 }) => (
  <ul class="entries">
    {members.map(({ name, schema, required }) => {
      const inner = depth < maxSchemaDepth ? listMembers(useApiDocument(), schema) : [];
      const remark = required ? (isInput ? "required" : "") : isInput ? "" : "not always present";
      return (
        <SchemaEntry name={name} schema={schema} remark={remark}>
          {inner.length > 0 && (
            <details class="more">
              <summary>
                <Icon name="chevron-right" />
                {inner.length === 1 ? "1 member" : `${inner.length} members`}
                <span class="visually-hidden"> of {name}</span>
              </summary>
              <SchemaMembers members={inner} isInput={isInput} depth={depth + 1} />
            </details>
          )}
        </SchemaEntry>
      );
    })}
  </ul>
);

const parameterHeadings = { path: "Path parameters", query: "Query parameters", header: "Headers" } as const;
type ParameterLocation = keyof typeof parameterHeadings;

const listParameters = (operation: Operation, location: ParameterLocation) =>
  (operation.parameters ?? []).filter((parameter) => parameter.in === location);

/** Lists the parts of an operation's page, for its table of contents. */
export const listOperationParts = (operation: Operation): readonly { readonly id: string; readonly title: string }[] => [
  ...(Object.keys(parameterHeadings) as ParameterLocation[])
    .filter((location) => listParameters(operation, location).length > 0)
    .map((location) => ({ id: `${location}-parameters`, title: parameterHeadings[location] })),
  ...(operation.requestBody === undefined ? [] : [{ id: "request-body", title: "Request body" }]),
  ...listSuccesses(operation).map(({ status }) => ({ id: `response-${status}`, title: `Response ${status}` })),
  { id: "errors", title: "Errors" },
];

const RequestInputs: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {(["path", "query", "header"] as const).map((location) => {
      const inputs = listParameters(operation, location);
      return (
        inputs.length > 0 && (
          <>
            <h2 id={`${location}-parameters`} tabindex={-1}>
              {parameterHeadings[location]}
            </h2>
            <ul class="entries">
              {inputs.map(({ name, schema, required, description }) => {
                const described = description === undefined ? schema : { ...schema, description };
                return <SchemaEntry name={name} schema={described} remark={required ? "required" : ""} />;
              })}
            </ul>
          </>
        )
      );
    })}
    {operation.requestBody !== undefined && (
      <>
        <h2 id="request-body" tabindex={-1}>
          Request body
        </h2>
        <p>
          <JoinedList items={Object.keys(operation.requestBody.content).map((type) => <code>{type}</code>)} separator=" or " />.{" "}
          {operation.requestBody.description !== undefined && <InlineMarkdown text={operation.requestBody.description} />}
        </p>
        <SchemaMembers
          members={listMembers(useApiDocument(), operation.requestBody.content["application/json"]?.schema ?? {})}
          isInput={true}
        />
      </>
    )}
  </>
);

const SuccessResponses: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    {listSuccesses(operation).map(({ status, response }) => {
      const document = useApiDocument();
      const content = response.content?.["application/json"];
      const payload = content === undefined ? undefined : getPayloadSchema(document, content.schema);
      const members = payload === undefined ? [] : listMembers(document, payload);
      const headers = Object.entries(response.headers ?? {});
      return (
        <>
          <h2 id={`response-${status}`} tabindex={-1}>
            Response <code>{status}</code>
          </h2>
          <p>
            <InlineMarkdown text={response.description} />
          </p>
          {members.length > 0 && (
            <>
              {payload !== content?.schema && (
                <p class="quiet">
                  Members of <code>data</code>:
                </p>
              )}
              <SchemaMembers members={members} isInput={false} />
            </>
          )}
          {headers.length > 0 && (
            <p class="quiet">
              Headers:{" "}
              {headers.map(([name, { description }], index) => (
                <>
                  {index > 0 && "; "}
                  <code>{name}</code>
                  {description !== undefined && (
                    <>
                      {" "}
                      (<InlineMarkdown text={description.replace(/\.$/, "")} />)
                    </>
                  )}
                </>
              ))}
              .
            </p>
          )}
          {content !== undefined && (
            <CodeSample label={`Response ${status}`} text={formatJson(getContentExample(document, content))} language="json" />
          )}
        </>
      );
    })}
  </>
);

const ErrorResponses: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h2 id="errors" tabindex={-1}>
      Errors
    </h2>
    <dl class="kv codes">
      {listRefusals(operation).map(({ status, code, when }) => (
        <div>
          <dt>
            {status} <code>{code}</code>
          </dt>
          <dd>
            <InlineMarkdown text={when} />
          </dd>
        </div>
      ))}
    </dl>
  </>
);

const describeAuthentication = (operation: Operation): string => {
  if (operation.security.some((scheme) => "session" in scheme)) return "Requires a signed-in person";
  const acceptsKey = operation.security.some((scheme) => "apiKey" in scheme);
  if (!acceptsKey) return "Public, no credentials";
  return operation.security.some((scheme) => Object.keys(scheme).length === 0) ? "Public; an API key is optional" : "Requires an API key";
};

export const OperationDescription: FC<{ operation: Operation }> = ({ operation }) => (
  <>
    <h1>{operation.summary}</h1>
    <p class="call">
      <span class="pill info">{operation.method}</span> <code translate="no">{operation.path}</code>
    </p>
    {operation.description !== undefined && <MarkdownParagraphs text={operation.description} />}
    <p class="quiet">{describeAuthentication(operation)}.</p>
    <CodeSample label="curl" id="curl" text={buildCurlCommand(useApiDocument(), operation)} language="sh" />
    <RequestInputs operation={operation} />
    <SuccessResponses operation={operation} />
    <ErrorResponses operation={operation} />
  </>
);

/** Lists the members of an event's `data`. Returns an empty list if `data` has no members. */
const listEventValues = (document: ApiDocument, body: Schema): SchemaMember[] => {
  const data = listMembers(document, body).find(({ name }) => name === "data");
  return data === undefined ? [] : listMembers(document, data.schema);
};

/** Lists the webhook event types. All types have the same body structure. They differ in which ID is set and whether `data` has values. */
export const EventTypes: FC = () => (
  <>
    <h1>Webhook events</h1>
    <p class="lede">
      svc posts each event to your endpoints exactly as it is in the feed, signed in <code>Svc-Signature</code>. The type decides which ID
      is set and whether <code>data</code> has values.
    </p>
    {listEventTypes(useApiDocument()).map(({ type, when, body }) => {
      const document = useApiDocument();
      const values = listEventValues(document, body.schema);
      return (
        <section class="event-type" aria-labelledby={`event-${type}`}>
          <h2 id={`event-${type}`} tabindex={-1}>
            <code translate="no">{type}</code>
          </h2>
          <p>
            <InlineMarkdown text={when} />
          </p>
          {values.length > 0 && (
            <p class="quiet">
              In <code>data</code>: <JoinedList items={values.map(({ name }) => <code>{name}</code>)} separator=", " />.
            </p>
          )}
          <CodeSample label={`Body of ${type}`} text={formatJson(getContentExample(document, body))} language="json" />
        </section>
      );
    })}
  </>
);
