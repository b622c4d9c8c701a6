// Lists the errors of a form above it, each with a link to its field.
import type { FC } from "hono/jsx";
import { Icon } from "./components.tsx";

export const ErrorSummary: FC<{ title: string; errors: readonly { readonly href: string; readonly text: string }[] }> = ({
  title,
  errors,
}) => (
  <div class="notice bad" role="alert">
    <Icon name="circle-alert" />
    <div>
      <strong>{title}</strong>
      <ul>
        {errors.map(({ href, text }) => (
          <li>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </div>
  </div>
);
