import { useState } from "preact/hooks"
import { post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { examplePage } from "../sites/snippets.ts"
import type { WholeSite } from "./settings.ts"

/** Excludes the user's own visits: by a link per host for this browser, or by a shield for their IP address. */
export function OwnVisits({ site, path, onAdded }: { site: WholeSite; path: string; onAdded(): Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const exclude = async () => {
    setBusy(true)
    try {
      const value = await ownAddress(site)
      await post(path, { kind: "ip", value, note: "Own visits" })
      toast(`Events from ${visible(value)} are no longer counted`)
      await onAdded()
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="card stack" aria-labelledby="own-visits">
      <h2 id="own-visits">Exclude my own visits</h2>
      <p class="quiet">Open this link once to exclude this browser. Open it again to be counted.</p>
      <ul class="switches">
        {site.hosts.map((host) => {
          const address = `${examplePage({ hosts: [host] })}#footfall-ignore`
          return (
            <li key={host}>
              <a href={address} target="_blank" rel="noreferrer noopener">
                {visible(address)}
              </a>
            </li>
          )
        })}
      </ul>
      <p class="quiet">Exclude all browsers on your connection, for as long as its IP address stays the same:</p>
      <div>
        <Button onClick={exclude} busy={busy}>
          Exclude my IP address
        </Button>
      </div>
    </section>
  )
}

/** Returns the IP address of this connection as the collect route sees it. The request stores nothing. */
async function ownAddress(site: WholeSite): Promise<string> {
  const answer = await fetch("/api/event", {
    method: "POST",
    headers: { "content-type": "text/plain", "x-debug-request": "true" },
    body: JSON.stringify({ n: "pageview", d: site.tracking_id, u: examplePage(site) }),
  })
  const address = (await answer.text()).trim()
  if (!answer.ok || address === "") throw new Error("Your IP address couldn't be determined. Try again.")
  return address
}
