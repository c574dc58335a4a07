import { useQueryClient } from "@tanstack/react-query"
import { Link } from "wouter"
import { put, remove } from "../../api/api.ts"
import { IconButton } from "../../parts/button.tsx"
import { Change } from "../../parts/change.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Spark } from "../../parts/values.tsx"
import { exact, short } from "../../text/format.ts"
import { CutText, visible } from "../../text/safe-text.tsx"
import { troubleOf } from "./order.ts"
import type { ListedSite } from "./site-list.ts"

interface SiteEntryProps {
  site: ListedSite
  isCounting: boolean
}

/** Renders a site in the list or grid. The style sheet arranges the same parts as a row or a box. */
export function SiteEntry({ site, isCounting }: SiteEntryProps) {
  const { id, name, hosts, current_visitors, visitors, visitors_by_day, change_percent } = site
  const trouble = troubleOf(site, Date.now())
  return (
    <>
      <div class="site-entry-name">
        <Link href={`/sites/${id}`} class="site-entry-link">
          <CutText text={name} />
        </Link>
        <span class="small quiet">
          <CutText text={hosts.join(", ")} />
        </span>
      </div>
      <span class="small quiet site-entry-now">
        <span class="dot" data-state={current_visitors > 0 ? "on" : "quiet"} />
        {short(current_visitors)} online
      </span>
      <div class="site-entry-spark">
        {visitors_by_day ? (
          <Spark values={visitors_by_day} label={`${visible(name)}, visitors in the last 7 days`} />
        ) : (
          <span class="small quiet">{isCounting ? "" : "n/a"}</span>
        )}
      </div>
      <div class="site-entry-figure">
        <strong title={exact(visitors)}>{short(visitors)}</strong>
        <span class="small">{visitors !== undefined && <Change metric="visitors" change={change_percent} value={visitors} />}</span>
      </div>
      <PinButton site={site} />
      {trouble && (
        <span class="small site-entry-trouble">
          <span class="dot" data-state="warn" />
          {trouble}
        </span>
      )}
    </>
  )
}

function PinButton({ site: { id, name, pinned } }: { site: ListedSite }) {
  const client = useQueryClient()
  const label = `${pinned ? "Unpin" : "Pin"} ${visible(name)}`
  const toggle = async () => {
    const path = `/api/private/sites/${id}/pin`
    try {
      await (pinned ? remove(path) : put(path, {}))
      await client.invalidateQueries({ queryKey: ["sites"] })
    } catch (error) {
      toast(sentenceOf(error as Error))
    }
  }
  return <IconButton icon="pin" label={label} aria-pressed={pinned} onClick={toggle} />
}
