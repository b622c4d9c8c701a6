// Shows code in the portal. If it has a caption, it also has a copy button. In JSON, keys and strings are colored.
import type { Child, FC } from "hono/jsx";
import { CodeBlock, HighlightedCode } from "../shared/components.tsx";
import { LabeledCopyButton } from "./components.tsx";

interface CodeFigureProps {
  readonly id: string;
  /** The name of the code, for screen readers and for the copy button. */
  readonly label: string;
  readonly caption?: string;
  readonly children: Child;
}

export const CodeFigure: FC<CodeFigureProps> = ({ id, label, caption, children }) => (
  <figure class="code">
    {caption !== undefined && (
      <figcaption>
        {caption}
        <LabeledCopyButton elementId={id} label={label} />
      </figcaption>
    )}
    <CodeBlock id={id} label={label}>
      {children}
    </CodeBlock>
  </figure>
);

/** Shows JSON with indentation. `text` must be valid JSON. */
export const Json: FC<{ text: string }> = ({ text }) => (
  <HighlightedCode text={JSON.stringify(JSON.parse(text), null, 2)} language="json" />
);
