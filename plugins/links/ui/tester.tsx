import { useState } from "preact/hooks"
import { Button, Card, Form, post, SelectField, TextField, useSite, visible } from "#plugin/ui"
import type { LinkResponse, TrialResponse } from "../responses.ts"
import { linksPath } from "./answers.ts"
import { instantOf } from "./zone-time.ts"

/** Programs to choose from, each with a common user agent. */
const PROGRAMS = [
  { value: "", label: "Desktop browser" },
  {
    value:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    label: "iPhone",
  },
  {
    value: "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    label: "Android phone",
  },
  {
    value: "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1",
    label: "iPad",
  },
  { value: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", label: "Search engine" },
]

const EMPTY = { ua: "", country: "", language: "", at: "", query: "", path: "" }

/** Tests which destination a visitor would get, now or at another time, without counting a click. */
export function Tester({ siteId, link }: { siteId: number; link: LinkResponse }) {
  const timezone = useSite(siteId).data?.timezone ?? "UTC"
  const [input, setInput] = useState(EMPTY)
  const [answer, setAnswer] = useState<TrialResponse>()
  const text = (name: keyof typeof EMPTY) => ({
    value: input[name],
    onValue: (value: string) => setInput({ ...input, [name]: value }),
  })
  const submit = async () => {
    setAnswer(undefined)
    const { at, country, ...others } = input
    const given = { ...others, country: country.trim().toUpperCase(), at: at === "" ? "" : (instantOf(at, timezone) ?? at) }
    const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""))
    setAnswer(await post<TrialResponse>(`${linksPath(siteId)}/${link.id}/test`, body))
  }
  return (
    <Card title="Test link">
      <Form submit={submit} label="Test link">
        {({ busy, errorOf }) => (
          <>
            <SelectField label="Visitor" options={PROGRAMS} {...text("ua")} error={errorOf("/ua")} />
            <details>
              <summary>Place, time and parameters</summary>
              <div class="stack details-body">
                <div class="narrow-fields">
                  <TextField
                    label="Country"
                    placeholder="DE"
                    {...text("country")}
                    error={errorOf("/country")}
                    maxLength={2}
                    autocomplete="off"
                  />
                  <TextField label="Language" placeholder="de-AT" {...text("language")} error={errorOf("/language")} autocomplete="off" />
                </div>
                <TextField label={`Time, ${timezone.replaceAll("_", " ")}`} type="datetime-local" {...text("at")} error={errorOf("/at")} />
                <TextField label="Parameters" placeholder="ref=mail" {...text("query")} error={errorOf("/query")} autocomplete="off" />
                {link.forward_path && (
                  <TextField label="Path after the slug" {...text("path")} error={errorOf("/path")} autocomplete="off" />
                )}
              </div>
            </details>
            <div class="row">
              <Button type="submit" busy={busy}>
                Run test
              </Button>
              <span class="small quiet">Tests are not counted.</span>
            </div>
            <div role="status">{answer && <Outcome of={answer} />}</div>
          </>
        )}
      </Form>
    </Card>
  )
}

const OUTCOMES: Readonly<Record<string, string>> = {
  password: "Visitors have to enter the password first.",
  expired: "The link has expired.",
  not_started: "The link has not started yet. Visitors see a Not found page.",
  archived: "The link is archived. Visitors see a Not found page.",
  loop: "The link redirects through too many short links.",
  unknown: "No link matches this path.",
}

function Outcome({ of: { outcome, rule, status, url, bot_reason } }: { of: TrialResponse }) {
  const decider = rule === undefined || rule === 0 ? "No rule matches" : `Rule ${rule} matches`
  return (
    <div class="stack link-made">
      <p>
        {outcome === "redirect" ? `${decider}: redirect with status ${status} to` : `${OUTCOMES[outcome] ?? outcome} Status ${status}.`}
      </p>
      {url !== null && (
        <output class="link-made-text" aria-label="Test result">
          {visible(url)}
        </output>
      )}
      {bot_reason !== undefined && <p class="small quiet">This would count as a bot click.</p>}
    </div>
  )
}
