import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { examplePage } from "../sites/snippets.ts"
import type { WholeSite } from "./settings.ts"

/** Ways to leave out one's own visits: a mark in this browser for each host, or a shield for this address. */
export function OwnVisits({ site, path, onAdded }: { site: WholeSite; path: string; onAdded(): Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const exclude = async () => {
    setBusy(true)
    try {
      const value = await ownAddress(site)
      await post(path, { kind: "ip", value, note: "Own visits" })
      toast(`Events from ${visible(value)} are dropped from now on`)
      await onAdded()
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="card stack" aria-labelledby="own-visits">
      <h2 id="own-visits">Leave out my own visits</h2>
      <p class="quiet">
        In this browser: open a page of the site by its link here. The page says that it is left out from now on; the same link counts it
        again.
      </p>
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
      <p class="quiet">From this connection, in all browsers, as long as it keeps its address:</p>
      <div>
        <Button onClick={exclude} busy={busy}>
          Exclude my address
        </Button>
      </div>
    </section>
  )
}

/** The address that the collect door sees of this connection; nothing is stored by the question. */
async function ownAddress(site: WholeSite): Promise<string> {
  const answer = await fetch("/api/event", {
    method: "POST",
    headers: { "content-type": "text/plain", "x-debug-request": "true" },
    body: JSON.stringify({ n: "pageview", d: site.tracking_id, u: examplePage(site) }),
  })
  const address = (await answer.text()).trim()
  if (!answer.ok || address === "") throw new Error("The server did not tell the address of this connection")
  return address
}
