// Shows code in the portal. If it has a caption, it also has a copy button. In JSON, keys and strings are colored.
import type { Child, FC } from "hono/jsx";
import { HighlightedCode } from "../shared/components.tsx";
import { LabeledCopyButton } from "./components.tsx";

interface CodeBlockProps {
  readonly id: string;
  /** The name of the code, for screen readers and for the copy button. */
  readonly label: string;
  readonly caption?: string;
  readonly children: Child;
}

/** Code without a frame, for use inside an element that has one. */
export const Code: FC<{ id: string; label: string; children?: Child }> = ({ id, label, children }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot hold code; it can be focused because it scrolls sideways
  <pre tabindex={0} role="group" aria-label={label}>
    <code id={id} translate="no">
      {children}
    </code>
  </pre>
);

export const CodeBlock: FC<CodeBlockProps> = ({ id, label, caption, children }) => (
  <figure class="code">
    {caption !== undefined && (
      <figcaption>
        {caption}
        <LabeledCopyButton elementId={id} label={label} />
      </figcaption>
    )}
    <Code id={id} label={label}>
      {children}
    </Code>
  </figure>
);

/** Shows JSON with indentation. `text` must be valid JSON. */
export const Json: FC<{ text: string }> = ({ text }) => (
  <HighlightedCode text={JSON.stringify(JSON.parse(text), null, 2)} language="json" />
);
