import type { ComponentType } from "preact"
import { lazyScreen } from "../lazy-screen.ts"
import { useMe } from "../me.ts"
import { mayOpen, type OwnedSection } from "../plugin-pages.ts"
import { PlainShell } from "./plain-shell.tsx"
import { SectionShell } from "./section-shell.tsx"
import { Forbidden, NotFound } from "./system-pages.tsx"

/** A section as one screen, for whoever may open it: its list of pages, and the frame around them. */
export async function sectionScreen({ plugin, section }: OwnedSection): Promise<{ default: ComponentType }> {
  const { default: pages } = await section.load()
  const screens = pages.map((page) => ({ page, Screen: lazyScreen(page.load) }))
  return {
    default: function Section() {
      const me = useMe()
      if (!me?.features.includes(plugin)) return <NotFound />
      if (mayOpen(me, section)) return <SectionShell section={section} screens={screens} />
      return (
        <PlainShell>
          <Forbidden permission="run this instance" giver="An instance admin" />
        </PlainShell>
      )
    },
  }
}
