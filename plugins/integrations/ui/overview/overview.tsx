import type { ComponentChildren } from "preact"
import { lazy, Suspense } from "preact/compat"
import { useId, useState } from "preact/hooks"
import { Button, QueryResult, useSiteId } from "#plugin/ui"
import type { IntegrationList, IntegrationResponse } from "../../responses.ts"
import { useIntegrations, useRights } from "../answers.ts"
import type { Kind } from "../chat/chat-dialog.tsx"
import { IntegrationsPage } from "../frame.tsx"
import { IntegrationCard } from "./integration-card.tsx"
import { PaymentSummary, ReportSummary, WebhookSummary } from "./summaries.tsx"

const ChatDialog = lazy(() => import("../chat/chat-dialog.tsx"))

/** Page with everything that a site is connected to, by category. */
export default function Integrations() {
  const siteId = useSiteId()
  const list = useIntegrations(siteId)
  return (
    <IntegrationsPage siteId={siteId} title="Integrations">
      <QueryResult of={list} rows={9}>
        {(data) => <Categories siteId={siteId} list={data} />}
      </QueryResult>
    </IntegrationsPage>
  )
}

function Categories({ siteId, list: { data, available, outbound_enabled } }: { siteId: number; list: IntegrationList }) {
  const { writes, writesWebhooks } = useRights(siteId)
  const [open, setOpen] = useState<{ kind: Kind; item?: IntegrationResponse }>()
  const repair = (item: IntegrationResponse) => {
    const kind = available.find(({ kind }) => kind === item.kind)
    if (kind) setOpen({ kind, item })
  }
  const chats = data.filter(({ category }) => category === "chat")
  return (
    <div class="stack integration-groups">
      {!outbound_enabled && (
        <p class="notice" data-kind="warn" role="status">
          Outgoing requests are turned off on this instance by the setting FOOTFALL_OUTBOUND. Nothing can be connected, and no message is
          sent, until an operator turns them on.
        </p>
      )}
      <Group
        title="Chat"
        about="Messages about alerts, goals, imports and failed backups."
        actions={
          writes &&
          available
            .filter(({ category }) => category === "chat")
            .map((kind) => (
              <Button key={kind.kind} icon="plus" disabled={!outbound_enabled} onClick={() => setOpen({ kind })}>
                Connect {kind.name}
              </Button>
            ))
        }
      >
        {chats.length === 0 ? (
          <p class="quiet">No chat service is connected.</p>
        ) : (
          <ul class="source-gallery">
            {chats.map((one) => (
              <IntegrationCard key={one.id} siteId={siteId} of={one} onReconnect={repair} />
            ))}
          </ul>
        )}
      </Group>
      <Group title="Messages and payments" about="What Footfall sends to people and programs, and what it receives.">
        <ul class="source-gallery">
          {writesWebhooks && <WebhookSummary siteId={siteId} />}
          <ReportSummary siteId={siteId} />
          <PaymentSummary siteId={siteId} />
        </ul>
      </Group>
      {open && (
        <Suspense fallback={<div class="progress-line" />}>
          <ChatDialog siteId={siteId} {...open} onClose={() => setOpen(undefined)} />
        </Suspense>
      )}
    </div>
  )
}

/** A category with its title, what it is for, its contents, and what can be added. */
export function Group(props: { title: string; about: string; actions?: ComponentChildren; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="stack" aria-labelledby={id}>
      <div>
        <h2 id={id}>{props.title}</h2>
        <p class="small quiet">{props.about}</p>
      </div>
      {props.children}
      {props.actions && <div class="row">{props.actions}</div>}
    </section>
  )
}
