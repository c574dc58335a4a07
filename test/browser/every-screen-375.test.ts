import { everyScreen } from "./every-screen.ts"

everyScreen({ width: 375, themes: ["dark", "light"] })
