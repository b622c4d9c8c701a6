// The status page: the state of each component of the service, and the incidents that the operator recorded.
import type { FC } from "hono/jsx";
import { statusComponents, type ComponentStatus, type Incident } from "../../../core/incidents.ts";
import type { ServiceStatus } from "../../operations/service/get-service-status.ts";
import {
  Notice,
  Section,
  StatusBadge,
  TimelineEntry,
  Timestamp,
  VerbatimText,
  usePageContext,
  type PageContext,
  type StatusBadgeProps,
  PropertyList,
} from "../shared/components.tsx";
import type { Page } from "../shared/layout.tsx";

const statusLooks: Readonly<Record<ComponentStatus, Omit<StatusBadgeProps, "text">>> = {
  operational: { tone: "good", icon: "circle-check" },
  maintenance: { tone: "info", icon: "timer" },
  degraded: { tone: "caution", icon: "triangle-alert" },
  outage: { tone: "bad", icon: "circle-x" },
};

const ComponentBadge: FC<{ status: ComponentStatus }> = ({ status }) => (
  <StatusBadge {...statusLooks[status]} text={usePageContext().messages.status.states[status]} />
);

const IncidentCard: FC<{ incident: Incident }> = ({ incident: { id, title, impact, components, startedAt, endedAt, updates } }) => {
  const { status: messages } = usePageContext().messages;
  return (
    <Section
      name={`incident-${id}`}
      heading={<VerbatimText text={title} />}
      status={endedAt === null ? <ComponentBadge status={impact} /> : <StatusBadge tone="plain" icon="check" text={messages.ended} />}
    >
      <PropertyList
        lines={[
          [messages.affects, components.map((component) => messages.components[component]).join(", ")],
          [messages.since, <Timestamp at={startedAt} />],
          [messages.until, endedAt !== null && <Timestamp at={endedAt} />],
        ]}
      />
      <ol class="timeline">
        {updates.toReversed().map(({ at, text }, index) => (
          <TimelineEntry kind={endedAt !== null && index === 0 ? "done" : "pending"} text={<VerbatimText text={text} />} at={at} />
        ))}
      </ol>
    </Section>
  );
};

export const statusPage = ({ messages: { status: messages } }: PageContext, { components, incidents, isCopy }: ServiceStatus): Page => {
  const open = incidents.filter(({ endedAt }) => endedAt === null);
  const past = incidents.filter(({ endedAt }) => endedAt !== null);
  // A saved copy can be outdated or empty. If it has no open incident, the current state is unknown.
  const isUnknown = isCopy && open.length === 0;
  return {
    title: messages.title,
    isIndexable: true,
    content: (
      <>
        <div>
          <h1>{messages.title}</h1>
          {!isUnknown && <p class="lede">{open.length === 0 ? messages.allGood : messages.hasOpen}</p>}
        </div>
        {isCopy && (
          <Notice tone="caution" icon="triangle-alert" title={messages.noDatabase}>
            <p>{messages.noDatabaseAdvice}</p>
          </Notice>
        )}
        {!isUnknown && (
          <Section name="components" heading={messages.componentsHeading}>
            <PropertyList
              isApart
              lines={statusComponents.map((component) => [
                messages.components[component],
                <ComponentBadge status={components.get(component) ?? "operational"} />,
              ])}
            />
          </Section>
        )}
        {open.map((incident) => (
          <IncidentCard incident={incident} />
        ))}
        {past.length === 0 && !isUnknown && <p class="quiet">{messages.noPast}</p>}
        {past.map((incident) => (
          <IncidentCard incident={incident} />
        ))}
      </>
    ),
  };
};
