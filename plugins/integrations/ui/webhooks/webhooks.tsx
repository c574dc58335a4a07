import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Badges, type Column, SystemPage, useRows, useSiteId, visible } from "#plugin/ui"
import type { WebhookResponse, WebhookWithSecret } from "../../webhooks/responses.ts"
import { useRights } from "../answers.ts"
import { type EventFacts, eventsText, useEvents } from "../events/events.ts"
import { IntegrationsPage } from "../frame.tsx"
import { actionsColumn, ItemList } from "../item-list.tsx"
import { WebhookState, webhooksAddress, webhooksPath } from "./items.tsx"
import { SecretDialog } from "./secret-dialog.tsx"
import { WebhookMenu } from "./webhook-menu.tsx"

const WebhookEditor = lazy(() => import("./editor.tsx"))

/** Page with the webhooks of a site, and those of its organization for users who manage these. */
export default function Webhooks() {
  const siteId = useSiteId()
  const { writesWebhooks } = useRights(siteId)
  const known = useEvents().data
  const list = useRows<WebhookResponse>(["webhooks", siteId, "list"], webhooksPath(siteId))
  const [secret, setSecret] = useState<string>()
  if (!writesWebhooks) return <NoWebhooks />
  return (
    <ItemList
      of={list}
      caption="Webhooks"
      columns={columnsOf(siteId, known)}
      empty="No webhooks yet. A webhook sends a signed request to your server when something happens, such as a new goal or a failed import."
      create={["New webhook", "Create your first webhook"]}
      editor={(onClose) => (
        <WebhookEditor
          siteId={siteId}
          onSaved={(created) => setSecret((created as WebhookWithSecret).secret)} // the answer of a creation
          onClose={onClose}
        />
      )}
    >
      {(actions, table) => (
        <IntegrationsPage siteId={siteId} title="Webhooks" actions={actions}>
          {table}
          {secret !== undefined && <SecretDialog secret={secret} isRotated={false} onClose={() => setSecret(undefined)} />}
        </IntegrationsPage>
      )}
    </ItemList>
  )
}

/** What users see who may read integrations but not webhooks. */
export const NoWebhooks = () => (
  <SystemPage title="You don't have access to this page">
    <p>You need the permission to manage webhooks. An owner or admin of the organization can grant it.</p>
  </SystemPage>
)

const columnsOf = (siteId: number, known: readonly EventFacts[] | undefined): Column<WebhookResponse>[] => [
  {
    id: "url",
    label: "Receiver",
    cell: ({ id, url, description, scope }) => (
      <div class="goal-name">
        <span>
          <Link href={`${webhooksAddress(siteId)}/${id}`}>{visible(url)}</Link>
          {scope === "organization" && <Badges of={["organization"]} />}
        </span>
        {description !== "" && <span class="small quiet">{visible(description)}</span>}
      </div>
    ),
  },
  { id: "events", label: "Events", cell: ({ events }) => eventsText(events, known) },
  { id: "state", label: "State", cell: (webhook) => <WebhookState of={webhook} /> },
  actionsColumn((webhook) => <WebhookMenu siteId={siteId} webhook={webhook} />),
]
