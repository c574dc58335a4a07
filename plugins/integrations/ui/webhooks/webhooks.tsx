import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Badges, Button, type Column, PagedTable, SystemPage, useRows, useSiteId, visible } from "#plugin/ui"
import type { WebhookResponse, WebhookWithSecret } from "../../webhooks/responses.ts"
import { useRights } from "../answers.ts"
import { type EventFacts, eventsText, useEvents } from "../events/events.ts"
import { IntegrationsPage } from "../frame.tsx"
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
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string>()
  if (!writesWebhooks) return <NoWebhooks />
  const create = (label: string) => (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {label}
    </Button>
  )
  return (
    <IntegrationsPage siteId={siteId} title="Webhooks" actions={list.rows?.length !== 0 && create("New webhook")}>
      <PagedTable
        of={list}
        caption="Webhooks"
        stacks
        columns={columnsOf(siteId, known)}
        keyOf={({ id }) => id}
        empty="No webhooks yet. A webhook sends a signed request to your server when something happens, such as a new goal or a failed import."
        step={create("Create your first webhook")}
      />
      {isCreating && (
        <Suspense fallback={<div class="progress-line" />}>
          <WebhookEditor
            siteId={siteId}
            onSaved={(created) => setSecret((created as WebhookWithSecret).secret)} // the answer of a creation
            onClose={() => setCreating(false)}
          />
        </Suspense>
      )}
      {secret !== undefined && <SecretDialog secret={secret} isRotated={false} onClose={() => setSecret(undefined)} />}
    </IntegrationsPage>
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
  {
    id: "actions",
    label: "Actions",
    cell: (webhook) => (
      <div class="goal-acts">
        <WebhookMenu siteId={siteId} webhook={webhook} />
      </div>
    ),
  },
]
