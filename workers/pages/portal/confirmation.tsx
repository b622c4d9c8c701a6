// Confirmation pages for actions that cannot be undone. Each says what is affected and what will happen, and offers two buttons of the
// same size.
import type { Child } from "hono/jsx";
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { Role } from "../../../core/access/session.ts";
import { IconList, ConfirmCard } from "../shared/components.tsx";
import type { IconName } from "../shared/icon-names.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { Link, messages, PostForm } from "./components.tsx";
import { authenticatedPage, type PageHandler } from "./handlers.ts";
import { forbiddenPage, renderMemberPage } from "./page.tsx";
import type { PortalRequest } from "./portal-request.ts";
import type { Tab } from "./navigation.ts";
import type { Breadcrumb } from "./shell.tsx";

interface Confirmation {
  readonly tab: Tab;
  /** The parent page, or all ancestors of this page, outermost first. */
  readonly parent: Breadcrumb | readonly Breadcrumb[];
  readonly question: string;
  /** What the question is about, such as the name of a key. */
  readonly subject?: Child;
  readonly consequences: readonly (readonly [icon: IconName, text: string])[];
  readonly action: string;
  readonly confirmLabel: string;
  /** The label of the link back to the parent page, such as "Keep key". */
  readonly cancelLabel: string;
  /** Set to "primary" if the action deletes nothing. Otherwise, its button is red. */
  readonly look?: "primary";
  readonly hiddenValues?: Readonly<Record<string, string>>;
}

export const renderConfirmation = (
  request: PortalRequest,
  { tab, parent, question, subject, consequences, action, confirmLabel, cancelLabel, look, hiddenValues }: Confirmation,
): Promise<Response> =>
  renderMemberPage(request, {
    tab,
    title: question,
    parent,
    content: (
      <ConfirmCard>
        {subject !== undefined && <p>{subject}</p>}
        <IconList items={consequences} />
        <div class="choice">
          <Link class="btn" to={[parent].flat().at(-1)?.path ?? ""} text={cancelLabel} />
          <PostForm action={action} class="one-button" hiddenValues={hiddenValues}>
            <SubmitButton class={look === "primary" ? "btn primary" : "btn danger primary"}>{confirmLabel}</SubmitButton>
          </PostForm>
        </div>
      </ConfirmCard>
    ),
  });

/** Handles a confirmation page. Members who may not perform the action see the reason instead. */
export const confirmationPage = (requiredRole: Role, show: PageHandler<PortalRequest>) =>
  authenticatedPage((request) => {
    const { business, role } = request.member;
    const writable = authorizeWrite(business.status);
    if (!writable.ok) return forbiddenPage(request, writable.code, messages.pastDue);
    return requiredRole === "owner" && role !== "owner" ? forbiddenPage(request, "owner_required", messages.ownersOnly) : show(request);
  });
