import type { ComponentChildren } from "preact"
import { useId, useState } from "preact/hooks"
import { useLocation, useSearch } from "wouter"
import { Button, IconButton, QueryResult, useSiteId } from "#plugin/ui"
import type { IntegrationList, IntegrationResponse } from "../../responses.ts"
import { useIntegrations, useRights } from "../answers.ts"
import { IntegrationsPage } from "../frame.tsx"
import { ConnectDialog, type Kind, type OpenDialog } from "./connect-dialog.tsx"
import { IntegrationCard } from "./integration-card.tsx"
import { isAccount, isMapping } from "./remedies.ts"
import { AlertSummary, PaymentSummary, ReportSummary, WebhookSummary } from "./summaries.tsx"

/** Page with everything that a site is connected to, by category. */
export default function Integrations() {
  const siteId = useSiteId()
  const list = useIntegrations(siteId)
  return (
    <IntegrationsPage siteId={siteId} title="Integrations">
      <AccessResult />
      <QueryResult of={list} rows={9}>
        {(data) => <Categories siteId={siteId} list={data} />}
      </QueryResult>
    </IntegrationsPage>
  )
}

interface Category {
  id: Kind["category"]
  title: string
  about: string
  empty: string
}

const CATEGORIES: readonly Category[] = [
  {
    id: "search",
    title: "Search engines",
    about: "Queries for which this site appears in search results.",
    empty: "No search engine is connected.",
  },
  { id: "imports", title: "Imports", about: "Accounts whose history can be imported.", empty: "No account is connected." },
  { id: "chat", title: "Chat", about: "Messages about alerts, goals, imports and failed backups.", empty: "No chat service is connected." },
]

function Categories({ siteId, list }: { siteId: number; list: IntegrationList }) {
  const { data, available, organization_permissions, outbound_enabled } = list
  const { writes, writesWebhooks } = useRights(siteId)
  const [open, setOpen] = useState<OpenDialog>()
  const managesOrganization = organization_permissions.includes("integrations:write")
  const openFor = (item: IntegrationResponse, mapping?: true) => {
    const kind = available.find(({ kind }) => kind === item.kind)
    if (kind) setOpen({ kind, ...((!mapping || isMapping(item)) && { item }), ...(mapping && { mapping }) })
  }
  /** Accounts at Google belong to the organization. */
  const canConnect = (kind: Kind): boolean => writes && (managesOrganization || !isAccount({ kind: kind.kind, scope: "organization" }))
  return (
    <div class="stack card-groups">
      {!outbound_enabled && (
        <p class="notice" data-kind="warn" role="status">
          Outgoing requests are turned off on this instance by the setting FOOTFALL_OUTBOUND. Nothing can be connected, and no message is
          sent, until an operator turns them on.
        </p>
      )}
      {CATEGORIES.filter(({ id }) => available.some(({ category }) => category === id)).map(({ id, title, about, empty }) => {
        const own = data.filter(({ category }) => category === id)
        return (
          <Group
            key={id}
            title={title}
            about={about}
            actions={available
              .filter((kind) => kind.category === id && canConnect(kind))
              .map((kind) => (
                <Button
                  key={kind.kind}
                  icon="plus"
                  aria-label={`Connect ${kind.name}`}
                  disabled={!outbound_enabled}
                  onClick={() => setOpen({ kind })}
                >
                  {kind.name}
                </Button>
              ))}
          >
            {own.length === 0 ? (
              <p class="quiet">{empty}</p>
            ) : (
              <ul class="source-gallery">
                {own.map((one) => (
                  <IntegrationCard key={one.id} siteId={siteId} of={one} list={list} onDialog={(mapping) => openFor(one, mapping)} />
                ))}
              </ul>
            )}
          </Group>
        )
      })}
      <Group title="Messages and payments" about="Reports, alerts and webhooks that Footfall sends, and payments reported to it.">
        <ul class="source-gallery" data-summaries>
          {writesWebhooks && <WebhookSummary siteId={siteId} />}
          <ReportSummary siteId={siteId} />
          <AlertSummary siteId={siteId} />
          <PaymentSummary siteId={siteId} />
        </ul>
      </Group>
      {open && <ConnectDialog siteId={siteId} of={open} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

interface GroupProps {
  title: string
  about: string
  actions?: ComponentChildren[]
  children: ComponentChildren
}

/** A category with its title, what it is for, its contents, and what can be added. */
function Group({ title, about, actions = [], children }: GroupProps) {
  const id = useId()
  return (
    <section class="card stack" aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        <p class="small quiet">{about}</p>
      </div>
      {children}
      {actions.length > 0 && <div class="row">{actions}</div>}
    </section>
  )
}

const RESULTS: Readonly<Record<string, readonly [kind: string, text: string]>> = {
  connected: ["", "The account is connected."],
  denied: ["warn", "Access was not granted, so nothing was connected."],
  scope_not_granted: ["warn", "The required access was not granted, so nothing was connected. Connect again and leave all boxes ticked."],
  failed: ["bad", "Google did not complete the connection. Try again."],
}

/** What became of a request for access, after the browser has returned from the service. */
function AccessResult() {
  const [path, navigate] = useLocation()
  const result = RESULTS[new URLSearchParams(useSearch()).get("result") ?? ""]
  if (!result) return null
  const [kind, text] = result
  return (
    <div class="notice" data-kind={kind || undefined} role="status">
      <p>{text}</p>
      <IconButton icon="close" label="Close message" onClick={() => navigate(path, { replace: true })} />
    </div>
  )
}
