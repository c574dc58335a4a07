import { useState } from "preact/hooks"
import { patch } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Checkbox, SelectField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { Part, useSaveProfile } from "./section.tsx"

const THEMES = [
  { id: "auto", label: "System" },
  { id: "light", label: "Light" },
  { id: "dark", label: "Dark" },
]

export function Preferences({ me }: { me: Me }) {
  const save = useSaveProfile(me)
  const refresh = useRefreshMe()
  const [theme, setTheme] = useState(me.user.theme ?? "auto")
  const [shortcuts, setShortcuts] = useState(me.user.shortcuts)
  const [startPage, setStartPage] = useState(me.user.start_page ?? "")
  // Applied and saved at once. Sent without a version, so that several changes in quick succession don't conflict.
  const choose = async (wanted: string) => {
    setTheme(wanted)
    document.documentElement.dataset.theme = wanted
    try {
      await patch("/api/private/me", { theme: wanted })
      await refresh()
    } catch (error) {
      toast(`The theme couldn't be saved. ${errorText(error as Error)}`)
    }
  }
  const isChanged = shortcuts !== me.user.shortcuts || startPage !== (me.user.start_page ?? "")
  return (
    <Part title="Preferences">
      <fieldset>
        <legend>Theme</legend>
        {THEMES.map(({ id, label }) => (
          <Checkbox key={id} name="theme" label={label} checked={theme === id} onChange={() => void choose(id)} />
        ))}
      </fieldset>
      <Form
        label="Preferences"
        submit={async () => {
          await save({ shortcuts, start_page: startPage || null })
          toast("Preferences saved")
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <Checkbox
              label="Keyboard shortcuts"
              note="Single letters choose a period, open a page and more. Press ? on a site's page to see them all."
              checked={shortcuts}
              onChange={setShortcuts}
            />
            <SelectField
              label="Start page"
              note="Opens after you sign in."
              value={startPage}
              onValue={setStartPage}
              options={startPages(me)}
              error={errorOf("/start_page")}
            />
            <div class="row">
              <Button kind="primary" type="submit" busy={busy} disabled={!isChanged}>
                Save changes
              </Button>
            </div>
          </>
        )}
      </Form>
    </Part>
  )
}

function startPages({ sites, user }: Me): { value: string; label: string }[] {
  const known = [
    { value: "", label: "All sites, or the site if there is only one" },
    { value: "/sites", label: "All sites" },
    ...sites.map(({ id, name }) => ({ value: `/sites/${id}`, label: visible(name) })),
  ]
  const own = user.start_page
  return own === null || known.some(({ value }) => value === own) ? known : [...known, { value: own, label: own }]
}

/** Locales that differ in how they write numbers and dates. The user's own choice is offered in addition. */
const OFFERED = [
  "en-GB",
  "en-US",
  "en-IN",
  "de",
  "de-AT",
  "de-CH",
  "fr",
  "fr-CH",
  "es",
  "es-MX",
  "it",
  "nl",
  "pt-BR",
  "pt-PT",
  "da",
  "sv",
  "nb",
  "fi",
  "pl",
  "cs",
  "hu",
  "ro",
  "el",
  "tr",
  "uk",
  "ja",
  "ko",
  "zh-CN",
  "zh-TW",
  "hi",
  "id",
  "vi",
] as const

const EXAMPLE = 12_345.6

/** Returns the locales as options, each with an example. The empty value means the browser's locale. */
export function localeOptions(chosen: string | null): { value: string; label: string }[] {
  const names = new Intl.DisplayNames("en", { type: "language" })
  const tags = [...new Set<string>([...OFFERED, ...(chosen === null ? [] : [chosen])])]
  const own = tags.map((value) => ({ value, label: `${names.of(value)}: ${EXAMPLE.toLocaleString(value)}` }))
  return [{ value: "", label: `Match browser: ${EXAMPLE.toLocaleString()}` }, ...own.sort((a, b) => a.label.localeCompare(b.label, "en"))]
}
