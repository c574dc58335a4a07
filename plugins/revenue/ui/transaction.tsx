import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import {
  Button,
  Card,
  Confirm,
  DataTable,
  DescriptionList,
  Dialog,
  dimensionLabel,
  EmptyState,
  Form,
  post,
  QueryResult,
  remove,
  TextField,
  timeText,
  toast,
  useSite,
  useSiteId,
  valueText,
  visible,
} from "#plugin/ui"
import type { TransactionDetail } from "../transactions/responses.ts"
import { PROVIDER_LABELS, revenueAddress, revenuePath, TRUST_LABELS, TYPE_LABELS, useRefresh, useRights, useSiteQuery } from "./answers.ts"
import { RevenuePage } from "./frame.tsx"
import { moneyText } from "./money.ts"
import { signedMoney, TypeText, useColumns } from "./transactions.tsx"

/** A dimension of visits: the names in an answer are among them. */
type Dimension = Parameters<typeof dimensionLabel>[0]

/** Page of one transaction: what it is, what led to it, and what was refunded. */
export default function TransactionPage() {
  const siteId = useSiteId()
  const id = useParams<{ transaction: string }>().transaction
  const answer = useSiteQuery<TransactionDetail>(siteId, `revenue/transactions/${encodeURIComponent(id)}`)
  const { writes } = useRights(siteId)
  const [dialog, setDialog] = useState<"refund" | "delete">()
  const refresh = useRefresh(siteId)
  const [, navigate] = useLocation()
  const one = answer.data
  return (
    <RevenuePage
      siteId={siteId}
      title={one ? `${TYPE_LABELS[one.type]} of ${moneyText(one.amount)}` : "Transaction"}
      actions={
        writes &&
        one && (
          <>
            {one.type === "sale" && <Button onClick={() => setDialog("refund")}>Refund</Button>}
            {one.provider === "manual" && (
              <Button icon="trash" onClick={() => setDialog("delete")}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <QueryResult of={answer} rows={8}>
        {(data) => <Detail siteId={siteId} of={data} />}
      </QueryResult>
      {dialog === "refund" && one && <RefundDialog siteId={siteId} of={one} onClose={() => setDialog(undefined)} />}
      {dialog === "delete" && one && (
        <Confirm
          title="Delete this transaction?"
          act="Delete transaction"
          onClose={() => setDialog(undefined)}
          onConfirm={async () => {
            await remove(`${revenuePath(siteId)}/transactions/${one.id}`)
            navigate(`${revenueAddress(siteId)}/transactions`, { replace: true })
            await refresh()
            toast("Transaction deleted")
          }}
        >
          <p>{moneyText(one.amount)} no longer counts in any report. This can't be undone.</p>
        </Confirm>
      )}
    </RevenuePage>
  )
}

function Detail({ siteId, of }: { siteId: number; of: TransactionDetail }) {
  const { data: site } = useSite(siteId)
  const columns = useColumns(siteId)
  const at = (instant: string | null) => (instant === null ? "–" : timeText(instant, site?.timezone))
  // Events have no ID but that of their order.
  const ids = of.ids
    .filter(({ provider }) => provider !== "tracker")
    .map(({ provider, id }) => `${PROVIDER_LABELS[provider as "stripe"] ?? "Order"}: ${visible(id)}`)
  const hasPart = ({ amount }: { amount: string }) => Number(amount) !== 0
  return (
    <div class="bands">
      <Card title="Details" full>
        <DescriptionList
          of={[
            ["Type", <TypeText key="type" type={of.type} flags={of.flags} />],
            ["Amount", signedMoney(of.type, of.amount)],
            ...(of.base && of.base.amount.currency !== of.amount.currency
              ? [[`In ${of.base.amount.currency}`, `${moneyText(of.base.amount)} (rate ${of.base.rate} of ${of.base.rate_day})`] as const]
              : []),
            ...(hasPart(of.tax) ? [["Tax", moneyText(of.tax)] as const] : []),
            ...(hasPart(of.shipping) ? [["Shipping", moneyText(of.shipping)] as const] : []),
            ...(hasPart(of.discount) ? [["Discount", moneyText(of.discount)] as const] : []),
            ["Order", visible(of.order_id ?? "–")],
            ["Time", at(of.occurred_at)],
            ["Reported by", PROVIDER_LABELS[of.provider]],
            ["Trust", TRUST_LABELS[of.trust]],
            ...(of.recurring ? [["Subscription", of.recurring === "first" ? "First payment" : "Renewal"] as const] : []),
            ...(of.note ? [["Note", visible(of.note)] as const] : []),
            ...(of.person ? [["Person", <PersonLink key="person" siteId={siteId} person={of.person} />] as const] : []),
            ...(ids.length > 0 ? [["IDs", ids.join(", ")] as const] : []),
          ]}
        />
      </Card>
      {of.items.length > 0 && (
        <Card title="Items" full>
          <DataTable
            stacks
            caption="Line items"
            rows={of.items.map((item, index) => ({ ...item, index }))}
            keyOf={({ index }) => index}
            columns={[
              { id: "name", label: "Name", cell: ({ name, sku }) => visible(name || sku || "–") },
              { id: "sku", label: "SKU", cell: ({ sku }) => visible(sku || "–") },
              { id: "category", label: "Category", cell: ({ category }) => visible(category || "–") },
              { id: "quantity", label: "Quantity", number: true, cell: ({ quantity }) => quantity },
              { id: "total", label: "Total", number: true, cell: ({ total_minor }) => minorText(total_minor, of.amount) },
            ]}
          />
        </Card>
      )}
      <Card title="Visits before the sale" full>
        {of.touches.length === 0 ? (
          <EmptyState>
            {of.flags.includes("unattributed")
              ? "The visit of this transaction is unknown."
              : "No visit within the look-back can be credited."}
          </EmptyState>
        ) : (
          <DataTable
            stacks
            caption="Credited visits"
            rows={of.touches.map((touch, index) => ({ ...touch, index }))}
            keyOf={({ index }) => index}
            columns={[
              { id: "at", label: "Time", cell: ({ at: instant }) => <time dateTime={instant}>{at(instant)}</time> },
              { id: "source", label: "Source", cell: ({ dimensions }) => visible(dimensions.source ?? "Direct") },
              { id: "channel", label: "Channel", cell: ({ dimensions }) => visible(dimensions.channel ?? "–") },
              { id: "campaign", label: "Campaign", cell: ({ dimensions }) => visible(dimensions.utm_campaign ?? "–") },
              {
                id: "page",
                label: "Entry page",
                cell: ({ dimensions }) => <span class="address">{visible(dimensions.entry_page ?? "–")}</span>,
              },
            ]}
          />
        )}
      </Card>
      {Object.keys(of.dimensions).length > 0 && (
        <Card title="Visit" full>
          <DescriptionList
            of={[
              ["Started", at(of.visit_started_at)] as const,
              ...Object.entries(of.dimensions).map(
                ([name, value]) => [dimensionLabel(name as Dimension), visible(valueText(name, value))] as const,
              ),
            ]}
          />
        </Card>
      )}
      {of.transactions.length > 0 && (
        <Card title={of.type === "sale" ? "Refunds, disputes and adjustments" : "Sale"} full>
          <DataTable stacks caption="Related transactions" rows={of.transactions} keyOf={({ id }) => id} columns={columns} />
        </Card>
      )}
    </div>
  )
}

const PersonLink = ({ siteId, person }: { siteId: number; person: string }) => (
  <Link href={`/sites/${siteId}/power-users/${person}`}>{person.slice(0, 8)}</Link>
)

/** Minor units in the currency of an amount, which tells the number of decimals. */
function minorText(minor: number, { amount, currency }: TransactionDetail["amount"]): string {
  const decimals = amount.split(".")[1]?.length ?? 0
  const digits = String(Math.abs(minor)).padStart(decimals + 1, "0")
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return moneyText({ amount_minor: minor, currency, amount: minor < 0 ? `-${text}` : text })
}

function RefundDialog({ siteId, of, onClose }: { siteId: number; of: TransactionDetail; onClose(): void }) {
  const [amount, setAmount] = useState("")
  const [note, setNote] = useState("")
  const refresh = useRefresh(siteId)
  const submit = async () => {
    await post(`${revenuePath(siteId)}/transactions/${of.id}/refund`, {
      ...(amount.trim() && { amount: amount.trim() }),
      ...(note.trim() && { note: note.trim() }),
    })
    await refresh()
    toast("Refund added")
    onClose()
  }
  return (
    <Dialog title={`Refund ${moneyText(of.amount)}`} onClose={onClose}>
      <Form submit={submit} label="Refund">
        {({ busy, errorOf }) => (
          <>
            <p>This records the refund. It doesn't pay any money back.</p>
            <TextField
              label={`Amount in ${of.amount.currency}`}
              value={amount}
              onValue={setAmount}
              inputMode="decimal"
              error={errorOf("/amount")}
              note="Leave empty to refund what is left of the order."
              autofocus
            />
            <TextField label="Note" value={note} onValue={setNote} error={errorOf("/note")} maxLength={500} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Add refund
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
