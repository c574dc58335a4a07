import { Link } from "wouter"
import { counted, exact, type Problem, percent } from "#plugin/ui"
import type { EngagementResponse } from "../responses.ts"
import { type Identity, MODE_LABELS, RECOGNIZED, useRights, useSiteQuery } from "./answers.ts"

/** One sentence about who is recognized and for how long, and what would change it. */
export function IdentityBanner({ siteId, of: { mode, coverage, restricted, horizon_days } }: { siteId: number; of: Identity }) {
  const { changesSettings } = useRights(siteId)
  return (
    <p class="identity-line small quiet">
      {mode === "persistent" && horizon_days !== null
        ? `People with a stored ID are recognized for ${exact(horizon_days)} days, all other visitors within one day.`
        : RECOGNIZED[mode]}{" "}
      {restricted
        ? `Only people with an ID are counted: ${percent(coverage)} of visits. `
        : coverage < 100 && `${percent(coverage)} of visits are by people who are recognized for the whole time. `}
      <SettingLink siteId={siteId}>
        {changesSettings ? "Change the identity mode" : "Identity mode"} ({MODE_LABELS[mode].toLowerCase()})
      </SettingLink>
    </p>
  )
}

/** The line on a page without a report: the number of people of one day is known in every mode. */
export function SiteIdentityBanner({ siteId }: { siteId: number }) {
  const { data } = useSiteQuery<EngagementResponse>(siteId, "engagement?metrics=dau")
  return data ? <IdentityBanner siteId={siteId} of={{ ...data.identity, coverage: 100, restricted: false }} /> : null
}

function SettingLink({ siteId, children }: { siteId: number; children: preact.ComponentChildren }) {
  const { changesSettings } = useRights(siteId)
  return changesSettings ? <Link href={`/sites/${siteId}/settings/privacy`}>{children}</Link> : <span>{children}</span>
}

/** State of a report that needs visitors to be recognized for longer than the site recognizes them. */
export function Insufficient({ siteId, problem, onRestrict }: { siteId: number; problem: Problem; onRestrict?: () => void }) {
  const { needed_days, mode, options } = problem.members as { needed_days?: number; mode?: Identity["mode"]; options?: string[] }
  const { changesSettings } = useRights(siteId)
  return (
    <div class="card insufficient" role="status">
      <h2>This report can't be shown with the current identity mode</h2>
      {mode && <p>{RECOGNIZED[mode]}</p>}
      {needed_days !== undefined && (
        <p>
          This report needs people to be recognized for {counted(needed_days, "day")}. A zero would be misleading, so no numbers are shown.
        </p>
      )}
      <ul>
        {options?.includes("shorten_window") && <li>Choose a shorter time that lies within one period of recognition.</li>}
        {options?.includes("restrict_identified") && onRestrict && (
          <li>
            <button type="button" class="text-button" onClick={onRestrict}>
              Count only people with a user ID or stored ID
            </button>
          </li>
        )}
        {options?.includes("switch_mode") && (
          <li>
            {changesSettings ? (
              <Link href={`/sites/${siteId}/settings/privacy`}>Change the identity mode</Link>
            ) : (
              "Ask an admin of the site to change the identity mode"
            )}
            . Data recorded until then keeps its mode, so longer reports fill up from the day of the change.
          </li>
        )}
      </ul>
    </div>
  )
}
