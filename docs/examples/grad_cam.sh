glasshead explain my-resnet photo.png --method grad-cam --target blue --out cam.html
# An earlier feature map: by number, or by the name of its module
glasshead explain my-resnet photo.png --method grad-cam+layer=resnet.encoder.stages.0 --out earlier.html
glasshead rank my-resnet discs --methods grad-cam,gradient,random --out methods.html
glasshead audit my-resnet discs --method grad-cam --out audits/grad-cam
