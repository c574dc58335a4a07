import { useState } from "preact/hooks"
import { Choice, TextField } from "#plugin/ui"
import type { FieldsProps } from "./editor.tsx"

/** When the link works, how often, and for whom. */
export function LimitFields({ draft, set, errorOf, timezone, hasPassword }: FieldsProps & { timezone: string; hasPassword: boolean }) {
  const zone = `Time in ${timezone.replaceAll("_", " ")}.`
  const [isUsed] = useState(draft.starts !== "" || draft.expires !== "" || draft.maxClicks !== "" || hasPassword)
  return (
    <details open={isUsed}>
      <summary>Schedule, limit and password</summary>
      <div class="stack details-body">
        <div class="link-builder link-fields">
          <TextField
            label="Starts"
            type="datetime-local"
            value={draft.starts}
            onValue={(starts) => set({ starts })}
            error={errorOf("/starts_at")}
            note={zone}
          />
          <TextField
            label="Expires"
            type="datetime-local"
            value={draft.expires}
            onValue={(expires) => set({ expires })}
            error={errorOf("/expires_at")}
            note={zone}
          />
          <TextField
            label="Most clicks"
            type="number"
            min={1}
            value={draft.maxClicks}
            onValue={(maxClicks) => set({ maxClicks })}
            error={errorOf("/max_clicks")}
            note="Clicks of people. Bots use none up."
          />
          <TextField
            label="Target once expired or used up"
            type="url"
            code
            value={draft.expiredDestination}
            onValue={(expiredDestination) => set({ expiredDestination })}
            error={errorOf("/expired_destination")}
            note="Empty: a page says that the link has expired."
            autocomplete="off"
          />
        </div>
        <TextField
          label={hasPassword ? "New password" : "Password"}
          type="password"
          autocomplete="new-password"
          value={draft.password ?? ""}
          disabled={draft.password === null}
          onValue={(password) => set({ password })}
          error={errorOf("/password")}
          note={
            hasPassword
              ? "Empty: the present one stays. Whoever has unlocked the link must type a new one again."
              : "Who follows the link types it first."
          }
        />
        {hasPassword && (
          <Choice
            label="Take the password away"
            checked={draft.password === null}
            onChange={(isGone) => set({ password: isGone ? null : "" })}
          />
        )}
      </div>
    </details>
  )
}
