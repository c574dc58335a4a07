import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { patch } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"

/** Renders a part of an account section under its own heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

type User = Me["user"]
type ProfileChanges = Partial<Pick<User, "name" | "locale" | "time_format" | "theme" | "shortcuts" | "start_page">>

/** Returns a function that saves changes to the user's account. It fails if the account was changed elsewhere since it was loaded. */
export function useSaveProfile({ user }: Me): (changes: ProfileChanges) => Promise<void> {
  const refresh = useRefreshMe()
  return async (changes) => {
    await patch("/api/private/me", { ...changes, version: user.version })
    await refresh()
  }
}
