import { useSiteAddress } from "../../address.ts"
import { Problem, post, remove } from "../../api.ts"
import { copyText } from "../../clipboard.ts"
import { MenuItem } from "../../parts/menu.tsx"
import { visible } from "../../safe-text.ts"
import { useSite } from "../../site.ts"
import { useStatsSource } from "../../stats/source.ts"
import { useFirstItem } from "../../stats/use-first-item.ts"
import { toast } from "../../toasts.ts"
import { type CardTab, detailsName } from "./card-tabs.ts"
import { openPage, pageAddress } from "./page-address.ts"
import { filtersWithout } from "./row-filters.ts"
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
        <MenuItem onSelect={after(() => go({ filters: filtersWithout(address.filters, tab, value) }))}>Is not</MenuItem>
      )}
      <MenuItem onSelect={after(() => void copyText(value))}>Copy value</MenuItem>
      {source.siteId !== undefined && (
        <MenuItem onSelect={after(() => go({}, { path: `${base}/details/${detailsName(tab)}` }))}>Open details</MenuItem>
      )}
      {page && <MenuItem onSelect={after(() => openPage(page))}>Open the page itself</MenuItem>}
      {source.siteId !== undefined && isBlockable(tab, value) && source.can("site:write") && (
        <MenuItem kind="danger" onSelect={after(() => void block(siteId, tab, value))}>
          Block this source
        </MenuItem>
      )}
    </div>
  )
}

const isNoValue = (value: string): boolean => value === "Direct" || value.startsWith("(")

const isBlockable = ({ dimension }: CardTab, value: string): boolean =>
  (dimension === "source" || dimension === "referrer") && !isNoValue(value)

/** From now on; what is recorded stays. */
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
