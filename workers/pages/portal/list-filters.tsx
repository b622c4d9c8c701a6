// The filters of a list, inside the list's card: the panel with the forms, and links that remove one filter each.
import type { Child, FC } from "hono/jsx";
import { formatMessage, Icon } from "../shared/components.tsx";
import { Link, messages, usePortalRequest } from "./components.tsx";

const filterMessages = messages.filters;

/** Contains the filter forms. On a phone, they are in a drawer. The button that opens it shows the number of `active` filters. */
export const FilterPanel: FC<{ active: number; children?: Child }> = ({ active, children }) => (
  <>
    <div class="row filters-open">
      <button type="button" class="btn" popovertarget="filters">
        <Icon name="list-filter" />
        {active === 0 ? filterMessages.title : formatMessage(filterMessages.active, { count: String(active) })}
      </button>
    </div>
    <div class="filters" id="filters" popover="auto">
      <div class="row apart close">
        <h2>{filterMessages.title}</h2>
        <button type="button" class="btn bare sm" popovertarget="filters" popovertargetaction="hide">
          <Icon name="x" />
          {messages.shell.close}
        </button>
      </div>
      {children}
    </div>
  </>
);

export interface FilterChip {
  readonly label: string;
  /** Null if the label alone describes the filter. */
  readonly value: { readonly text: string; readonly content: Child } | null;
  /** The path of the list without this filter. */
  readonly pathWithout: string;
}

/** Shows each filter as a link that removes it. Shows nothing if there are no filters. */
export const FilterChips: FC<{ chips: readonly FilterChip[]; path: string; lead?: string }> = ({ chips, path, lead }) => {
  const { pathInMode } = usePortalRequest();
  if (chips.length === 0) return null;
  return (
    <div class="chips">
      {lead !== undefined && <span class="quiet">{lead}</span>}
      {chips.map(({ label, value, pathWithout }) => (
        <a
          class="chip"
          href={pathInMode(pathWithout)}
          aria-label={formatMessage(filterMessages.remove, { filter: value === null ? label : `${label} ${value.text}` })}
        >
          {value === null ? (
            label
          ) : (
            <>
              <b>{label}</b> {value.content}
            </>
          )}
          <Icon name="x" />
        </a>
      ))}
      {chips.length > 1 && <Link to={path} text={filterMessages.clearAll} />}
    </div>
  );
};
