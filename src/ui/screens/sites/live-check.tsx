import { useQueryClient } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { coversHost } from "../../../domain/site.ts"
import { patch } from "../../api.ts"
import { timeText } from "../../format.ts"
import { canOnSite, useMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Icon } from "../../parts/icon.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { browserZone } from "../../parts/zone-field.tsx"
import { visible } from "../../safe-text.ts"
import { type SiteShown, useSite } from "../../site.ts"
import { toast } from "../../toasts.ts"
import { checksOf, offsetIn, type StepState } from "./live-state.ts"
import { SnippetTabs } from "./snippet-tabs.tsx"
import { examplePage, type SnippetSite } from "./snippets.ts"
import { useLive } from "./use-live.ts"

type CheckedSite = SiteShown & SnippetSite & { organization: { id: number } }

/** The snippet, and live what becomes of it: in place of a dashboard's cards until the first event, and after adding a site. */
export default function LiveCheck({ siteId }: { siteId: number }) {
  const { data: site } = useSite(siteId)
  if (!site) return null
  const checked = site as CheckedSite // the whole answer; `SiteShown` names what most pages need
  return (
    <div class="bands">
      <section class="card stack" aria-labelledby="put-on-pages">
        <h2 id="put-on-pages">Put this on the pages</h2>
        <SnippetTabs site={checked} />
      </section>
      <section class="card stack" aria-labelledby="live-check">
        <h2 id="live-check">Live check</h2>
        <CheckList site={checked} />
      </section>
    </div>
  )
}

function CheckList({ site }: { site: CheckedSite }) {
  const { state, retryAt } = useLive(site.id)
  const mayWrite = canOnSite(useMe(), site.id, "site:write")
  const zone = browserZone()
  const now = Date.now()
  const checks = checksOf(site, state, zone, now)
  return (
    <>
      <ol class="check-list" aria-live="polite">
        <Step
          state={checks.script}
          done={state.scriptAt ? `Script found at ${timeText(state.scriptAt, site.timezone)}` : "Pages reach this instance"}
          waiting="Waiting for a page that loads the script"
        />
        <Step
          state={checks.event}
          done={
            state.event
              ? `Event ${visible(state.event.name)} on ${visible(state.event.hostname)}${visible(state.event.page)}`
              : `First event at ${timeText(site.first_event_at ?? now, site.timezone)}`
          }
          waiting="Waiting for the first event. Open a page of the site."
        />
        <Step state={checks.host} done="The host is among the site's hosts" waiting="Hosts are checked with the first event">
          {checks.strangers.map((hostname) => (
            <Stranger key={hostname} hostname={hostname} site={site} mayWrite={mayWrite} />
          ))}
        </Step>
        <Step state={checks.zone} done={`Time zone fits: it is ${offsetIn(site.timezone, now)} in ${site.timezone}`}>
          <span class="small">
            Days are counted in {site.timezone}, where it is {offsetIn(site.timezone, now)}. This browser is in {zone}, where it is{" "}
            {offsetIn(zone, now)}.
          </span>
          {mayWrite && <UseZone site={site} zone={zone} />}
        </Step>
      </ol>
      {retryAt !== undefined && (
        <p class="small quiet" role="status">
          The line to the server is lost. It is opened again by itself.
        </p>
      )}
      <TestEvent site={site} />
    </>
  )
}

interface StepProps {
  state: StepState
  done: string
  waiting?: string
  /** Evidence and remedy of what failed. */
  children?: ComponentChildren
}

const STATE_WORDS: Readonly<Record<StepState, string>> = { waiting: "Waiting", ok: "Done", failed: "To be mended" }

const Step = ({ state, done, waiting, children }: StepProps) => (
  <li data-state={state}>
    <span class="check-mark">
      {state === "ok" ? <Icon name="check" /> : state === "failed" ? <Icon name="warning" /> : <span class="dot" data-state="quiet" />}
      <span class="visually-hidden">{STATE_WORDS[state]}:</span>
    </span>
    {state === "failed" ? null : <span>{state === "ok" ? done : waiting}</span>}
    {state === "failed" && children}
  </li>
)

function Stranger({ hostname, site, mayWrite }: { hostname: string; site: CheckedSite; mayWrite: boolean }) {
  const { busy, run } = useChange(site.id)
  const allow = () => run(() => patch(`/api/private/sites/${site.id}`, { hosts: [...site.hosts, hostname], version: site.version }))
  if (coversHost(site.hosts, hostname)) return null
  return (
    <span class="row">
      <span>
        Event arrived from <strong>{visible(hostname)}</strong>, not among the hosts.
      </span>
      {mayWrite && (
        <Button onClick={allow} busy={busy} aria-label={`Allow ${visible(hostname)}`}>
          Allow
        </Button>
      )}
    </span>
  )
}

function UseZone({ site, zone }: { site: CheckedSite; zone: string }) {
  const { busy, run } = useChange(site.id)
  return (
    <span>
      <Button busy={busy} onClick={() => run(() => patch(`/api/private/sites/${site.id}/settings`, { timezone: zone }))}>
        Use {zone}
      </Button>
    </span>
  )
}

/** Changes the site and shows it as it is then; what fails is said. */
function useChange(siteId: number) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const run = async (change: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await change()
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      await client.invalidateQueries({ queryKey: ["site", siteId] })
      setBusy(false)
    }
  }
  return { busy, run }
}

/** By the same door as those of pages, so that it proves the same. */
function TestEvent({ site }: { site: CheckedSite }) {
  const [busy, setBusy] = useState(false)
  const sendOne = async () => {
    setBusy(true)
    const answer = await fetch("/api/event", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: JSON.stringify({ n: "Test event", d: site.tracking_id, u: examplePage(site), i: false }),
    }).catch(() => undefined)
    setBusy(false)
    if (!answer?.ok) toast("The test event was not taken. The server may be short of space or busy.")
    else if (answer.headers.get("x-plausible-dropped")) toast("The test event was dropped by a rule of the site.")
  }
  return (
    <div>
      <Button onClick={sendOne} busy={busy}>
        Send test event
      </Button>
      <p class="small quiet">It is recorded as an event named Test event, from this browser.</p>
    </div>
  )
}
