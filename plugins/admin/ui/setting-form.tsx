import { useState } from "preact/hooks"
import { Button, Form, patch, toast, useUnsaved } from "#plugin/ui"
import type { Setting, Settings } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { SettingField } from "./setting-field.tsx"

/** Settings of one group, saved together; what somebody else saved meanwhile is refused, and shown beside what was typed. */
export function SettingForm({ settings, version }: { settings: readonly Setting[]; version: number }) {
  const [changes, setChanges] = useState<Readonly<Record<string, unknown>>>({})
  const refresh = useRefresh()
  const isDirty = Object.keys(changes).length > 0
  useUnsaved(isDirty)
  const change = ({ key, value: stored }: Setting, value: unknown) => {
    const { [key]: _, ...others } = changes
    setChanges(JSON.stringify(value) === JSON.stringify(stored) ? others : { ...others, [key]: value })
  }
  return (
    <Form
      submit={async () => {
        try {
          await patch<Settings>(`${ADMIN}/settings`, { changes: sent(settings, changes), version })
        } finally {
          await refresh("settings")
        }
        setChanges({})
        toast("Saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          {settings.map((setting) => (
            <SettingField
              key={setting.key}
              setting={setting}
              value={setting.key in changes ? changes[setting.key] : setting.value}
              onValue={(value) => change(setting, value)}
              isChanged={setting.key in changes}
              error={errorOf(`/changes/${setting.key}`)}
            />
          ))}
          <div class="row">
            <Button kind="primary" type="submit" busy={busy} disabled={!isDirty}>
              Save
            </Button>
            {isDirty && <Button onClick={() => setChanges({})}>Discard</Button>}
          </div>
        </>
      )}
    </Form>
  )
}

/** What is as it would be by itself is forgotten, so that it follows the default. */
const sent = (settings: readonly Setting[], changes: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(changes).map(([key, value]) => {
      const fallback = settings.find((setting) => setting.key === key)?.default
      return [key, JSON.stringify(value) === JSON.stringify(fallback) ? null : value]
    }),
  )
