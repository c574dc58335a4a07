import { useState } from "preact/hooks"
import { patch } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Choice, SelectField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { Part } from "./section.tsx"
import { useSaveProfile } from "./use-profile.ts"

const THEMES = [
  { id: "auto", label: "As the system has it" },
  { id: "light", label: "Light" },
  { id: "dark", label: "Dark" },
]

export function Preferences({ me }: { me: Me }) {
  const save = useSaveProfile(me)
  const refresh = useRefreshMe()
  const [theme, setTheme] = useState(me.user.theme ?? "auto")
  const [shortcuts, setShortcuts] = useState(me.user.shortcuts)
  const [startPage, setStartPage] = useState(me.user.start_page ?? "")
  // Seen and kept at once; without a version, so that one arrow key after another is no conflict.
  const choose = async (wanted: string) => {
    setTheme(wanted)
    document.documentElement.dataset.theme = wanted
    try {
      await patch("/api/private/me", { theme: wanted })
      await refresh()
    } catch (error) {
      toast(`The theme was not saved. ${sentenceOf(error as Error)}`)
    }
  }
  return (
    <Part title="Preferences">
      <fieldset>
        <legend>Theme</legend>
        {THEMES.map(({ id, label }) => (
          <Choice key={id} name="theme" label={label} checked={theme === id} onChange={() => void choose(id)} />
        ))}
      </fieldset>
      <Form
        label="Preferences"
        submit={async () => {
          await save({ shortcuts, start_page: startPage || null })
          toast("Saved")
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <Choice
              label="Keys"
              note="Single letters choose periods, open pages and more. Press ? on a site's page to see them."
              checked={shortcuts}
              onChange={setShortcuts}
            />
            <SelectField
              label="Start page"
              note="Opened after signing in."
              value={startPage}
              onValue={setStartPage}
              options={startPages(me)}
              error={errorOf("/start_page")}
            />
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Save
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
    { value: "", label: "All sites, or the only one" },
    { value: "/sites", label: "All sites" },
    ...sites.map(({ id, name }) => ({ value: `/sites/${id}`, label: visible(name) })),
  ]
  const own = user.start_page
  return own === null || known.some(({ value }) => value === own) ? known : [...known, { value: own, label: own }]
}
