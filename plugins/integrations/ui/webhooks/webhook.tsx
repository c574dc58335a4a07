import { useState } from "preact/hooks"
import { useLocation, useParams } from "wouter"
import {
  Button,
  Card,
  type Column,
  DescriptionList,
  FilterRow,
  PagedTable,
  QueryResult,
  SelectField,
  TimeAgo,
  timeText,
  useFilters,
  useRows,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { DeliveryResponse, WebhookResponse } from "../../webhooks/responses.ts"
import { SCOPE_LABELS, useRights } from "../answers.ts"
import { useEvents } from "../events/events.ts"
import { IntegrationsPage } from "../frame.tsx"
import { useAct } from "../item-list.tsx"
import { DeliveryDialog } from "./delivery-dialog.tsx"
import {
  DELIVERY_LABELS,
  DeliveryState,
  responseText,
  useRefresh,
  useSiteQuery,
  WebhookState,
  webhooksAddress,
  webhooksPath,
} from "./items.tsx"
import { sendTest, setEnabled, WebhookMenu } from "./webhook-menu.tsx"
import { NoWebhooks } from "./webhooks.tsx"

const SOON_MS = 2_000
const STATES = [{ value: "", label: "All" }, ...Object.entries(DELIVERY_LABELS).map(([value, label]) => ({ value, label }))]

/** Page of one webhook: its state, what it receives, and its delivery log. */
export default function WebhookPage() {
  const siteId = useSiteId()
  const { writesWebhooks } = useRights(siteId)
  const id = useParams<{ webhook: string }>().webhook
  const answer = useSiteQuery<WebhookResponse>(siteId, `webhooks/${encodeURIComponent(id)}`)
  const act = useAct(useRefresh(siteId))
  const [, navigate] = useLocation()
  if (!writesWebhooks) return <NoWebhooks />
  const webhook = answer.data
  return (
    <IntegrationsPage
      siteId={siteId}
      title={webhook ? visible(webhook.url) : "Webhook"}
      parent={{ href: webhooksAddress(siteId), label: "All webhooks" }}
      actions={
        webhook && (
          <>
            {webhook.enabled && <Button onClick={() => act(() => sendTest(siteId, webhook), "Test event sent")}>Send test event</Button>}
            <WebhookMenu siteId={siteId} webhook={webhook} onDeleted={() => navigate(webhooksAddress(siteId), { replace: true })} />
          </>
        )
      }
    >
      <QueryResult of={answer} rows={6}>
        {(data) => (
          <div class="stack">
            {data.disabled_reason !== null && data.disabled_reason !== "manual" && (
              <div class="notice" data-kind="bad">
                <p>
                  {data.disabled_reason === "gone"
                    ? "The receiver answered that it no longer exists (status 410), so this webhook was disabled."
                    : "No event could be delivered for five days, so this webhook was disabled."}{" "}
                  Events since then are not sent later. Check the receiver, then turn the webhook on.
                </p>
                <Button onClick={() => act(() => setEnabled(siteId, data, true), "Webhook turned on")}>Turn on webhook</Button>
              </div>
            )}
            <Card title="Settings" full>
              <Facts of={data} />
            </Card>
            <Deliveries siteId={siteId} webhook={data} />
          </div>
        )}
      </QueryResult>
    </IntegrationsPage>
  )
}

function Facts({ of }: { of: WebhookResponse }) {
  const known = useEvents().data
  const titles = of.events.map((event) => (event === "*" ? "All events" : (known?.find((one) => one.event === event)?.title ?? event)))
  return (
    <DescriptionList
      of={[
        ["State", <WebhookState key="state" of={of} />],
        ...(of.description ? [["Description", visible(of.description)] as const] : []),
        ["Events from", SCOPE_LABELS[of.scope]],
        ["Events", titles.join(", ")],
        [
          "Signing secret",
          <>
            {of.secret.hint ?? "Set"}, since <TimeAgo at={of.secret.updated_at ?? of.created_at} />
          </>,
        ],
      ]}
    />
  )
}

/** The delivery log. It refreshes itself while a delivery waits for its first attempt. */
function Deliveries({ siteId, webhook }: { siteId: number; webhook: WebhookResponse }) {
  const [filters, setFilters] = useFilters(["state"])
  const [chosen, setChosen] = useState<number>()
  const list = useRows<DeliveryResponse>(
    ["webhooks", siteId, webhook.id, "deliveries"],
    `${webhooksPath(siteId)}/${webhook.id}/deliveries`,
    filters,
    { refetchMs: (rows) => (rows.some(({ state }) => state === "pending") ? SOON_MS : false) },
  )
  const isFiltered = filters.state !== undefined
  return (
    <Card title="Deliveries" full>
      {(isFiltered || list.rows?.length !== 0) && (
        <FilterRow label="Deliveries">
          <SelectField label="State" value={filters.state ?? ""} options={STATES} onValue={(state) => setFilters({ state })} />
        </FilterRow>
      )}
      <PagedTable
        of={list}
        caption="Delivery log"
        stacks
        columns={columnsOf(setChosen)}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? "No delivery is in this state."
            : "Nothing has been sent yet. Deliveries of the last 30 days appear here. Send a test event to try the receiver."
        }
        step={isFiltered && <Button onClick={() => setFilters({ state: "" })}>Clear filter</Button>}
      />
      {chosen !== undefined && <DeliveryDialog siteId={siteId} webhookId={webhook.id} id={chosen} onClose={() => setChosen(undefined)} />}
    </Card>
  )
}

const columnsOf = (onOpen: (id: number) => void): Column<DeliveryResponse>[] => [
  {
    id: "event",
    label: "Event",
    cell: ({ id, event, sequence }) => (
      <button
        type="button"
        class="text-button"
        aria-label={`Details of delivery ${sequence}, ${visible(event)}`}
        onClick={() => onOpen(id)}
      >
        {visible(event)}
      </button>
    ),
  },
  { id: "state", label: "State", cell: (delivery) => <DeliveryState of={delivery} /> },
  { id: "response", label: "Response", cell: (delivery) => responseText(delivery) },
  { id: "attempt", label: "Attempts", number: true, cell: ({ attempt }) => attempt },
  { id: "ms", label: "Duration", number: true, cell: ({ ms }) => (ms === null ? "–" : `${ms} ms`) },
  { id: "created_at", label: "Created", cell: ({ created_at }) => <time dateTime={created_at}>{timeText(created_at)}</time> },
  { id: "next_at", label: "Next attempt", cell: ({ next_at }) => <TimeAgo at={next_at} none="–" /> },
]
