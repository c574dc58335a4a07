import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import {
  Button,
  type Column,
  canOnSite,
  FilterRow,
  PagedTable,
  queryOf,
  SearchField,
  SelectField,
  TextField,
  timeText,
  useFilters,
  useMe,
  useRows,
  useSite,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { TransactionResponse } from "../transactions/responses.ts"
import { FLAG_LABELS, PROVIDER_LABELS, revenueAddress, revenuePath, TRUST_LABELS, TYPE_LABELS, useRights } from "./answers.ts"
import { RevenuePage } from "./frame.tsx"
import { moneyText } from "./money.ts"

const EntryDialog = lazy(() => import("./entry-dialog.tsx"))
const UploadDialog = lazy(() => import("./upload-dialog.tsx"))

const FILTERS = ["q", "type", "provider", "trust", "flag", "from", "to", "sort"] as const

const options = (all: string, labels: Readonly<Record<string, string>>) => [
  { value: "", label: all },
  ...Object.entries(labels).map(([value, label]) => ({ value, label })),
]
const SORTS = [
  { value: "", label: "Latest first" },
  { value: "occurred_at", label: "Earliest first" },
  { value: "-amount", label: "Largest first" },
  { value: "amount", label: "Smallest first" },
]

/** Page with all transactions, and the ways to add some. */
export default function Transactions() {
  const siteId = useSiteId()
  const me = useMe()
  const { writes } = useRights(siteId)
  const [filters, choose] = useFilters(FILTERS)
  const [dialog, setDialog] = useState<"add" | "upload">()
  // One end of a range alone is being typed.
  const asked = filters.from && filters.to ? filters : { ...filters, from: "", to: "" }
  const rows = useRows<TransactionResponse>(["revenue", siteId, "transactions"], `${revenuePath(siteId)}/transactions`, asked)
  const close = () => setDialog(undefined)
  const isFiltered = FILTERS.some((name) => name !== "sort" && filters[name])
  return (
    <RevenuePage
      siteId={siteId}
      title="Transactions"
      actions={
        <>
          {canOnSite(me, siteId, "export:read") && (
            <a class="button" href={`${revenuePath(siteId)}/transactions.csv${queryOf(asked)}`} download>
              Export CSV
            </a>
          )}
          {writes && <Button onClick={() => setDialog("upload")}>Upload CSV</Button>}
          {writes && (
            <Button kind="primary" icon="plus" onClick={() => setDialog("add")}>
              Add transaction
            </Button>
          )}
        </>
      }
    >
      {(isFiltered || (rows.rows?.length ?? 0) > 0) && (
        <FilterRow label="Transactions">
          <SearchField label="Order, ID or note" value={filters.q ?? ""} onValue={(q) => choose({ q })} />
          <SelectField
            label="Type"
            value={filters.type ?? ""}
            options={options("All types", TYPE_LABELS)}
            onValue={(type) => choose({ type })}
          />
          <SelectField
            label="Reported by"
            value={filters.provider ?? ""}
            options={options("All", PROVIDER_LABELS)}
            onValue={(provider) => choose({ provider })}
          />
          <SelectField
            label="Trust"
            value={filters.trust ?? ""}
            options={options("All", TRUST_LABELS)}
            onValue={(trust) => choose({ trust })}
          />
          <SelectField label="Flag" value={filters.flag ?? ""} options={options("Any", FLAG_LABELS)} onValue={(flag) => choose({ flag })} />
          <TextField label="From" type="date" value={filters.from ?? ""} onValue={(from) => choose({ from })} />
          <TextField label="To" type="date" value={filters.to ?? ""} onValue={(to) => choose({ to })} />
          <SelectField label="Sort by" value={filters.sort ?? ""} options={SORTS} onValue={(sort) => choose({ sort })} />
        </FilterRow>
      )}
      <PagedTable
        stacks
        of={rows}
        caption="Transactions"
        columns={useColumns(siteId)}
        keyOf={({ id }) => id}
        empty={
          isFiltered
            ? "No transaction matches these filters."
            : "No transactions yet. Sales from events, payment providers and imports appear here, and those that you add."
        }
        step={isFiltered && <Button onClick={() => choose(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear filters</Button>}
      />
      <Suspense fallback={null}>
        {dialog === "add" && <EntryDialog siteId={siteId} onClose={close} />}
        {dialog === "upload" && <UploadDialog siteId={siteId} kind="transactions" onClose={close} />}
      </Suspense>
    </RevenuePage>
  )
}

/** Columns of a list of transactions. */
export function useColumns(siteId: number): Column<TransactionResponse>[] {
  const { data: site } = useSite(siteId)
  return [
    {
      id: "occurred_at",
      label: "Time",
      cell: ({ id, occurred_at }) => (
        <Link href={`${revenueAddress(siteId)}/transactions/${id}`}>
          <time dateTime={occurred_at}>{timeText(occurred_at, site?.timezone)}</time>
        </Link>
      ),
    },
    { id: "type", label: "Type", cell: ({ type, flags }) => <TypeText type={type} flags={flags} /> },
    { id: "amount", label: "Amount", number: true, cell: ({ type, amount }) => signedMoney(type, amount) },
    { id: "order", label: "Order", cell: ({ order_id }) => (order_id === null ? "–" : <span class="address">{visible(order_id)}</span>) },
    {
      id: "source",
      label: "Source",
      cell: ({ source, flags }) => (flags.includes("unattributed") ? "Unattributed" : visible(source ?? "Direct")),
    },
    { id: "provider", label: "Reported by", cell: ({ provider }) => PROVIDER_LABELS[provider] },
    { id: "trust", label: "Trust", cell: ({ trust }) => TRUST_LABELS[trust] },
  ]
}

/** Refunds and disputes take money away. */
export const signedMoney = (type: TransactionResponse["type"], amount: TransactionResponse["amount"]): string =>
  type === "refund" || type === "dispute" ? moneyText({ ...amount, amount: `-${amount.amount}` }) : moneyText(amount)

export const TypeText = ({ type, flags }: Pick<TransactionResponse, "type" | "flags">) => (
  <span class="row">
    {TYPE_LABELS[type]}
    {flags
      .filter((flag) => flag !== "unattributed")
      .map((flag) => (
        <span key={flag} class="badge">
          {FLAG_LABELS[flag]}
        </span>
      ))}
  </span>
)
