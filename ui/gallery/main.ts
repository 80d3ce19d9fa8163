// All parts in all their states, on one page. It is not a part of the UI that is embedded: tests/e2e/gallery_test.mjs builds it,
// and looks at it with axe-core.
import { mount } from 'svelte';
import '../src/design/tokens.css';
import '../src/design/base.css';
import { startClock } from '../src/lib/clock.svelte';
import { applySettings } from '../src/lib/settings.svelte';
import { loadText } from '../src/text';
import Gallery from './Gallery.svelte';

applySettings();
startClock();
await loadText();
mount(Gallery, { target: document.getElementById('app')! });
