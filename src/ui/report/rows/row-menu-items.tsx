import { Problem, post, remove } from "../../api/api.ts"
import { useSite } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { copyText } from "../../parts/copy.tsx"
import { MenuItem } from "../../parts/menu.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { type CardTab, detailsName } from "../data/card-tabs.ts"
import { openPage, pageAddress } from "../data/page-address.ts"
import { filtersWithout } from "../data/row-filters.ts"
import { useStatsSource } from "../data/source.ts"
import { useFirstItem } from "../use-first-item.ts"
import type { RowMenuProps } from "./row-menu.tsx"

export default function RowMenuItems({ tab, value, close }: RowMenuProps & { close(): void }) {
  const { siteId, base, address, go } = useSiteAddress()
  const source = useStatsSource()
  const box = useFirstItem()
  const { data: site } = useSite(source.siteId)
  const page = pageAddress(tab, value, site?.hosts[0])
  const after = (act: () => void) => () => {
    close()
    act()
  }
  return (
    <div ref={box}>
      {source.filters && tab.dimension !== "goal" && (
        <MenuItem onSelect={after(() => go({ filters: filtersWithout(address.filters, tab, value) }))}>Exclude value</MenuItem>
      )}
      <MenuItem onSelect={after(() => void copyText(value))}>Copy value</MenuItem>
      {source.siteId !== undefined && (
        <MenuItem onSelect={after(() => go({}, { path: `${base}/details/${detailsName(tab)}` }))}>View details</MenuItem>
      )}
      {page && <MenuItem onSelect={after(() => openPage(page))}>Open page</MenuItem>}
      {source.siteId !== undefined && isBlockable(tab, value) && source.can("site:write") && (
        <MenuItem kind="danger" onSelect={after(() => void block(siteId, tab, value))}>
          Block source
        </MenuItem>
      )}
    </div>
  )
}

const isNoValue = (value: string): boolean => value === "Direct" || value.startsWith("(")

const isBlockable = ({ dimension }: CardTab, value: string): boolean =>
  (dimension === "source" || dimension === "referrer") && !isNoValue(value)

/** Creates a shield that drops new visits from the source. Recorded visits are kept. */
async function block(siteId: number, { dimension }: CardTab, value: string): Promise<void> {
  const path = `/api/private/sites/${siteId}/shields`
  const conditions = [{ dimension, operator: "is", values: [value] }]
  try {
    const { id } = await post<{ id: number }>(path, {
      kind: "rule",
      value: `${dimension} ${value}`,
      conditions,
      note: "Blocked on the dashboard",
    })
    toast(`New visits from ${visible(value)} are blocked`, () => void remove(`${path}/${id}`))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    toast(error.message)
  }
}
