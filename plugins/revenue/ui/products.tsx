import { useState } from "preact/hooks"
import { Card, DataTable, EmptyState, exact, QueryResult, useRangeQuery, visible } from "#plugin/ui"
import type { ProductsResponse } from "../report/responses.ts"
import { useSiteQuery } from "./answers.ts"
import { moneyText, ordersText } from "./money.ts"

const GROUPS = [
  { id: "name", label: "Name" },
  { id: "sku", label: "SKU" },
  { id: "category", label: "Category" },
] as const
type Group = (typeof GROUPS)[number]["id"]

/** What was sold. Not shown while no transaction states its items. */
export function ProductsCard({ siteId, currency }: { siteId: number; currency: string | undefined }) {
  const [group, setGroup] = useState<Group>("name")
  const { plain } = useRangeQuery()
  const products = useSiteQuery<ProductsResponse>(siteId, `revenue/products?${plain}&group_by=${group}`)
  // What no item states is the last row, however much it is.
  const rows = products.data?.data
    .filter((row) => currency === undefined || row.currency === currency)
    .toSorted((a, b) => Number(a.key === "(none)") - Number(b.key === "(none)"))
  if (products.data && group === "name" && !products.data.data.some(({ key }) => key !== "(none)")) return null
  return (
    <Card<Group> title="Products" full tabs={GROUPS} chosen={group} onChoose={setGroup}>
      <QueryResult of={products} rows={6}>
        {() =>
          rows!.length === 0 ? (
            <EmptyState>No products were sold in this period.</EmptyState>
          ) : (
            <DataTable
              stacks
              caption={`Products by ${group}`}
              rows={rows!}
              keyOf={({ key, currency: code }) => `${code} ${key}`}
              columns={[
                {
                  id: "key",
                  label: GROUPS.find(({ id }) => id === group)!.label,
                  cell: ({ key }) => (key === "(none)" ? "Not stated" : visible(key)),
                },
                { id: "quantity", label: "Sold", number: true, cell: ({ quantity }) => exact(quantity) },
                { id: "orders", label: "Orders", number: true, cell: ({ orders }) => ordersText(orders) },
                { id: "gross", label: "Gross", number: true, cell: ({ gross }) => moneyText(gross) },
                { id: "refunds", label: "Refunds", number: true, cell: ({ refunds }) => moneyText(refunds) },
              ]}
            />
          )
        }
      </QueryResult>
    </Card>
  )
}
